// test: own process
/** A result that cannot be delivered is rolled back. */

import { test } from "tap";
import type { Call, Interrupt, Interruption } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type CallOptions, Network } from "../../harness/network.ts";
import { brokenPromises, heldByVictim } from "./recovery.ts";
import { scenarios } from "./scenarios.ts";

/** Standard output is closed or full for good; from its first refusal on, `then` decides about the other calls. */
function undeliverable(then: Interrupt = () => undefined): Interrupt {
  let isRefused = false;
  return (call) => {
    const later = isRefused ? then(call) : undefined;
    if (call.operation !== "writeStandardOutput") return later;
    isRefused = true;
    return later ?? { kind: "fail", code: "EPIPE" };
  };
}

const adding = scenarios.filter(({ name }) => name.startsWith("ADD") && !name.includes("taken"));

for (const scenario of adding) {
  test(`${scenario.name} gives back what it cannot tell anybody`, (t) => {
    const network = scenario.prepare();

    const answer = scenario.act(network, { interrupt: undeliverable() });

    t.equal(answer.exitCode, 1);
    t.equal(answer.stdout, "");
    t.match(answer.stderr, /^\d{4}\/\d\d\/\d\d .* write \/dev\/stdout: broken pipe\n$/);
    t.same(heldByVictim(network), []);
    t.end();
  });

  test(`${scenario.name} may be killed while it gives back`, (t) => {
    const broken: string[] = [];
    for (const { number } of callsAfterRefusal(scenario.prepare(), scenario.act)) {
      const network = scenario.prepare();
      const before = network.reservations();
      const stop: Interrupt = (call) => (call.number === number ? { kind: "stop" } : undefined);

      const { exitCode } = scenario.act(network, { interrupt: undeliverable(stop) });

      if (exitCode !== undefined) broken.push(`${number}: it is killed, found ${exitCode}`);
      broken.push(...brokenPromises(network, before, scenario));
    }

    t.equal(broken.join("\n"), "");
    t.end();
  });

  test(`${scenario.name} leaves to DEL what it cannot give back`, (t) => {
    const broken: string[] = [];
    for (const { number } of callsAfterRefusal(scenario.prepare(), scenario.act)) {
      const network = scenario.prepare();
      const before = network.reservations();
      const fail: Interrupt = (call) =>
        call.number === number ? { kind: "fail", code: "EIO" } : undefined;

      const { exitCode } = scenario.act(network, { interrupt: undeliverable(fail) });

      if (exitCode !== 1) broken.push(`${number}: the exit code is 1, found ${exitCode}`);
      broken.push(...brokenPromises(network, before, scenario));
    }

    t.equal(broken.join("\n"), "");
    t.end();
  });
}

function callsAfterRefusal(
  network: Network,
  act: (network: Network, options: CallOptions) => { readonly calls: readonly Call[] },
): readonly Call[] {
  const { calls } = act(network, { interrupt: undeliverable() });
  const first = calls.findIndex(({ operation }) => operation === "writeStandardOutput");
  return calls.slice(first + 1);
}

const subnet = { subnet: "10.0.0.0/29" };

test("an address that the attachment had before the call stays with it", (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  network.add("victim", { cniArgs: "IP=10.0.0.4" });

  network.add("victim", { cniArgs: "IP=10.0.0.5", interrupt: undeliverable() });

  t.same(heldByVictim(network), ["10.0.0.4"]);
  t.end();
});

test("an address that another got meanwhile stays with the other", (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  let isFirst = true;
  const others = (call: Call): Interruption | undefined => {
    if (call.operation !== "lock" || !isFirst) return undefined;
    isFirst = false;
    return {
      kind: "pause",
      meanwhile: () => {
        network.del("victim");
        network.add("other", { cniArgs: "IP=10.0.0.2" });
      },
    };
  };

  network.add("victim", { interrupt: undeliverable(others) });

  t.same(network.reservations(), { "10.0.0.2": "other\r\neth0" });
  t.end();
});

/** Lets others run when the call queues for the lock of its UNDO. */
function beforeUndo(meanwhile: () => void): Interrupt {
  let isFirst = true;
  return undeliverable(({ operation }) => {
    if (operation !== "lock" || !isFirst) return undefined;
    isFirst = false;
    return { kind: "pause", meanwhile };
  });
}

test("UNDO leaves what the same attachment got meanwhile after a DEL, though at the same address", (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/30" });
  const meanwhile = (): void => {
    network.del("victim");
    network.machine.wait(1);
    t.same(network.add("victim").addresses, ["10.0.0.2"]);
  };

  t.equal(network.add("victim", { interrupt: beforeUndo(meanwhile) }).exitCode, 1);

  t.same(heldByVictim(network), ["10.0.0.2"]);
  t.end();
});

test("UNDO leaves what a repeated ADD was told meanwhile", (t) => {
  for (const top of [subnet, { ranges: [[subnet], [{ subnet: "2001:db8::/125" }]] }]) {
    const network = new Network(new MemoryMachine(), { ...top, repeatedAdd: "same" });
    let told: readonly string[] = [];
    const meanwhile = (): void => {
      told = network.add("victim").addresses;
    };

    t.equal(network.add("victim", { interrupt: beforeUndo(meanwhile) }).exitCode, 1);

    t.same(
      heldByVictim(network),
      told.map((address) => address.replace(/\/.*/, "")),
    );
    t.not(told.length, 0);
  }
  t.end();
});

test("where others keep the lock, an address is left to its DEL", (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  const busy = (call: Call): Interruption | undefined => {
    if (call.operation !== "lock") return undefined;
    const meanwhile = (): void => {
      network.machine.locks.set("/var/lib/cni/networks/.host-local/net/lock", "process 1 (GC)");
    };
    return { kind: "pause", meanwhile };
  };

  const answer = network.add("victim", { interrupt: undeliverable(busy) });

  t.equal(answer.exitCode, 1);
  t.same(heldByVictim(network), ["10.0.0.2"]);
  t.end();
});
