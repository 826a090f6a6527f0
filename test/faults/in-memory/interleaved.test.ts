// test: own process
/** Other calls run at any point of a call; no address gets two owners. */

import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { pauseAt } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type CallOptions, Network } from "../../harness/network.ts";
import { sample } from "../../harness/sample.ts";
import { seed } from "../../harness/seed.ts";
import { createAsGo, GO_OWNER, type GoReservation } from "./go-writer.ts";
import { brokenPromises, heldByVictim } from "./recovery.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

/** Another process, which runs while the victim's call is interrupted. */
interface Intruder {
  readonly name: string;
  /** Does its work and notes what others hold by then; what it returns is done after the victim's call. */
  readonly come: (world: World) => (() => void) | undefined;
}

interface World {
  readonly network: Network;
  /** Who holds what beside the victim, by address. */
  readonly ledger: Map<string, string>;
  readonly addresses: readonly string[];
}

/** The other executable has a lock of its own kind. */
const otherExecutable = { lockKind: "flock" };

/** Where the victim has the lock, the time to wait for it is over at once. */
const sameExecutable = { ipam: { lockTimeoutSeconds: 0 } };

function addNew({ network, ledger }: World, options: CallOptions): void {
  const before = network.machine.disk.filesUnder("/");
  const answer = network.add("neighbour-new", options);
  for (const address of answer.addresses) {
    ledger.set(address, "neighbour-new\r\neth0");
  }
  requireLockedOutUnlessDone(network, before, answer.error?.code);
}

function delOld({ network, ledger }: World, options: CallOptions): void {
  const before = network.machine.disk.filesUnder("/");
  const answer = network.del("neighbour", options);
  if (answer.exitCode === 0) {
    for (const [address, owner] of ledger) {
      if (owner === "neighbour\r\neth0") ledger.delete(address);
    }
  }
  requireLockedOutUnlessDone(network, before, answer.error?.code);
}

/** Who waited for the lock in vain has changed nothing. */
function requireLockedOutUnlessDone(
  network: Network,
  before: Readonly<Record<string, string>>,
  code: number | undefined,
): void {
  if (code === undefined) return;
  if (code !== 11) throw new Error(`expected code 11, found ${code}`);
  const after = network.machine.disk.filesUnder("/");
  if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error("something was changed");
}

function addAsGo({ network, ledger, addresses }: World): () => void {
  const reservation = createAsGo(
    network,
    addresses.filter((address) => !address.includes(":")),
  );
  if (reservation !== undefined) ledger.set(reservation.address, GO_OWNER);
  return () => reservation?.write();
}

const intruders: readonly Intruder[] = [
  {
    name: "another ADD",
    come: (world) => {
      addNew(world, sameExecutable);
      return undefined;
    },
  },
  {
    name: "another DEL",
    come: (world) => {
      delOld(world, sameExecutable);
      return undefined;
    },
  },
  {
    name: "an ADD by the other executable",
    come: (world) => {
      addNew(world, otherExecutable);
      return undefined;
    },
  },
  {
    name: "a DEL and an ADD by the other executable",
    come: (world) => {
      delOld(world, otherExecutable);
      addNew(world, otherExecutable);
      return undefined;
    },
  },
  {
    name: "a Go ADD",
    come: (world) => {
      addAsGo(world)();
      return undefined;
    },
  },
  { name: "a Go ADD that writes its owner late", come: addAsGo },
];

const changing = scenarios.filter(({ verb }) => verb !== "CHECK" && verb !== "STATUS");

for (const scenario of changing) {
  for (const intruder of intruders) {
    test(`${intruder.name} may come at any system call of ${scenario.name}`, (t) => {
      const { calls, exitCode } = scenario.act(scenario.prepare(), {});
      const broken: string[] = [];

      for (const { number, operation, path } of sample(calls, extent === "short" ? 3 : 1, seed)) {
        const found = afterVisit(scenario, intruder, number, exitCode);
        broken.push(...found.map((text) => `${number} ${operation} ${path}: ${text}`));
      }

      t.equal(broken.join("\n"), "", "nothing is broken");
      t.end();
    });
  }
}

function afterVisit(
  scenario: Scenario,
  intruder: Intruder,
  number: number,
  expected: number | undefined,
): readonly string[] {
  const network = scenario.prepare();
  const ledger = new Map(Object.entries(network.reservations()));
  let finish: (() => void) | undefined;
  const answer = scenario.act(network, {
    interrupt: pauseAt(number, () => {
      finish = intruder.come({ network, ledger, addresses: scenario.addresses });
    }),
  });
  finish?.();
  const held = heldByVictim(network);
  const promised = answer.addresses;
  return [
    ...(expected === 1 || answer.exitCode === 0 ? [] : [`it works, found ${answer.stdout}`]),
    ...(promised.every((address) => held.includes(address))
      ? []
      : [`the victim holds ${promised}, found ${held}`]),
    ...brokenPromises(network, Object.fromEntries(ledger), scenario),
  ];
}

test("the last address is not taken from a Go plugin that has created it and not written it yet", (t) => {
  const prepare = (): Network => {
    const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/29" });
    for (const last of [2, 3, 4, 5]) network.put(`10.0.0.${last}`, `neighbour${last}\r\neth0`);
    network.machine.wait(60_000);
    return network;
  };
  const outcomes = new Set<string>();

  for (const { number } of prepare().add("victim").calls) {
    const network = prepare();
    let go: GoReservation | undefined;
    const { addresses, error } = network.add("victim", {
      interrupt: pauseAt(number, () => {
        go = createAsGo(network, ["10.0.0.6"]);
      }),
    });
    go?.write();

    const owner = network.reservations()["10.0.0.6"];
    outcomes.add(`${addresses} ${error?.msg.includes("no IP addresses")} ${JSON.stringify(owner)}`);
  }

  t.same(
    outcomes,
    new Set([
      ` true ${JSON.stringify(GO_OWNER)}`,
      `10.0.0.6 undefined ${JSON.stringify("victim\r\neth0")}`,
    ]),
  );
  t.end();
});
