// test: own process
/** A result that cannot be delivered is rolled back. */

import { test } from "tap";
import type { Call, Interrupt, Interruption } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { heldByVictim } from "./recovery.ts";
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
}

const subnet = { subnet: "10.0.0.0/29" };

test("an address that the attachment had before the call stays with it", (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  network.add("victim", { cniArgs: "IP=10.0.0.4" });

  network.add("victim", { cniArgs: "IP=10.0.0.5", interrupt: undeliverable() });

  t.same(heldByVictim(network), ["10.0.0.4"]);
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
