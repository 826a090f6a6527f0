/** Nothing is released for which libcni's cache could not be read: that it tells nothing does not show who is dead. */

import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { release } from "../../../src/operator/reservations/release.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, withNetwork } from "../../store/fixtures.ts";
import { MULTUS_RESULTS, memoryNode, RESULTS, remember, runOn } from "../memory-node.ts";

/** A node with three reservations, an hour old, of which the last names no interface; c2 is the one in the list. */
function node(): MemoryMachine {
  const machine = memoryNode({
    "10.0.0.2": "c1\r\neth0",
    "10.0.0.3": "c2\r\neth0",
    "10.0.0.4": "c3",
  });
  for (const id of ["c1", "c3"]) remember(machine, id);
  machine.disk.makeDirectories(MULTUS_RESULTS);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(3_600_000);
  machine.disk.put("/live", "c2\n");
  return machine;
}

/** The last parts of the addresses that are still reserved. */
function left(machine: MemoryMachine): string {
  const names = Object.keys(filesOf(machine)).filter((name) => name !== "lock");
  return names.map((name) => name.slice("10.0.0.".length)).join(" ");
}

const unreadable = (id: string, code = "EIO"): Interrupt =>
  refuse("readFile", code, `${RESULTS}/net-${id}-eth0`);

const byNode = { "--now": "", "--yes": "" };
const byList = { "--live": "/live", "--force": "", ...byNode };

for (const [source, options, unknown] of [
  ["--live", byList, 1],
  ["without a list", byNode, 2],
] as const) {
  for (const [directory, code] of [
    [RESULTS, "EIO"],
    [RESULTS, "EACCES"],
    [RESULTS, "ENOTDIR"],
    [MULTUS_RESULTS, "EIO"],
  ] as const) {
    test(`gc ${source}: ${code} on ${directory} is an error, and nothing is released`, async (t) => {
      const machine = node();
      const interrupt = refuse("list", code, directory);
      t.throws(() => runOn(machine, gc, { options, interrupt }), { code });
      t.equal(left(machine), "2 3 4");
    });
  }

  test(`gc ${source}: an entry that cannot be read keeps what depends on it, and that is said`, async (t) => {
    const machine = node();
    const report = runOn(machine, gc, { options, interrupt: unreadable("c1") });

    t.equal(report.exitCode, 1);
    t.equal(filesOf(machine)["10.0.0.2"], "c1\r\neth0");
    const reason = /^libcni's cache cannot be read: open .*c1-eth0: /;
    t.match(report.document(), {
      networks: [{ unknown }],
      undecided: [{ container: "c1", reason }],
    });
    t.match(report.logged, "libcni's cache cannot be read");
  });
}

for (const [what, options, interrupt, kept, spoil] of [
  ["a reservation without an interface depends on every entry", byList, unreadable("c3"), "3 4"],
  ["a missing entry is no doubt", byList, unreadable("c1", "ENOENT"), "3"],
  ["nor is a name too long for an entry", byList, unreadable("c1", "ENAMETOOLONG"), "3"],
  [
    "what is from before this boot is dead, whatever it has of that",
    byNode,
    unreadable("c1"),
    "4",
    (machine: MemoryMachine) => machine.boot(),
  ],
] as const) {
  test(`gc: ${what}`, async (t) => {
    const machine = node();
    spoil?.(machine);
    runOn(machine, gc, { options, interrupt });
    t.equal(left(machine), kept);
  });
}

for (const [operand, what, interrupt, kept] of [
  ["10.0.0.2", "its entry", unreadable("c1"), "3 4"],
  ["c1", "its entry", unreadable("c1"), "3 4"],
  ["10.0.0.4", "the directory", refuse("list", "EIO", RESULTS), "2 3"],
] as const) {
  test(`release ${operand} refuses while ${what} of the cache cannot be read, unless forced`, async (t) => {
    const machine = node();
    const run = (options: Readonly<Record<string, string>>) =>
      runOn(machine, release, { operands: [operand], options, interrupt });
    const refused = run({ "--yes": "" });

    t.equal(refused.exitCode, 1);
    t.match(
      refused.text(),
      /Whether the container that holds .* is alive is not known: libcni's cache cannot be read/,
    );
    t.equal(left(machine), "2 3 4");
    t.equal(run({ "--yes": "", "--force": "" }).exitCode, 0);
    t.equal(left(machine), kept);
  });
}
