/** Nothing is released for which libcni's cache could not be read: that it tells nothing does not show who is dead. */

import { test } from "tap";
import type { Report } from "../../../src/cli/command/command.ts";
import { gc } from "../../../src/operator/gc/gc.ts";
import { release } from "../../../src/operator/reservations/release.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, withNetwork } from "../../store/fixtures.ts";
import {
  contextOf,
  MULTUS_RESULTS,
  memoryNode,
  places,
  RESULTS,
  remember,
  startOperator,
} from "../memory-node.ts";

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

/** What a command does and logs, with these options and operands. */
function run(
  command: typeof gc,
  machine: MemoryMachine,
  interrupt: Interrupt,
  words: Readonly<Record<string, string>>,
  operands: readonly string[] = [],
): { readonly report: Report; readonly logged: string } {
  const logged: string[] = [];
  const { system } = startOperator(machine, interrupt);
  const context = contextOf(system, { ...places, "--yes": "", ...words }, operands);
  const report = command.run({ ...context, log: (message) => logged.push(message) });
  return { report, logged: logged.join("\n") };
}

/** The last parts of the addresses that are still reserved. */
function left(machine: MemoryMachine): string {
  const names = Object.keys(filesOf(machine)).filter((name) => name !== "lock");
  return names.map((name) => name.slice("10.0.0.".length)).join(" ");
}

const unreadable = (id: string, code = "EIO"): Interrupt =>
  refuse("readFile", code, `${RESULTS}/net-${id}-eth0`);

for (const [source, words, unknown] of [
  ["--live", { "--live": "/live", "--force": "", "--now": "" }, 1],
  ["without a list", { "--now": "" }, 2],
] as const) {
  for (const [directory, code] of [
    [RESULTS, "EIO"],
    [RESULTS, "EACCES"],
    [RESULTS, "ENOTDIR"],
    [MULTUS_RESULTS, "EIO"],
  ] as const) {
    test(`gc ${source}: ${code} on ${directory} is an error, and nothing is released`, async (t) => {
      const machine = node();
      t.throws(() => run(gc, machine, refuse("list", code, directory), words), { code });
      t.equal(left(machine), "2 3 4");
    });
  }

  test(`gc ${source}: an entry that cannot be read keeps what depends on it, and that is said`, async (t) => {
    const machine = node();
    const { report, logged } = run(gc, machine, unreadable("c1"), words);

    t.equal(report.exitCode, 1);
    t.equal(filesOf(machine)["10.0.0.2"], "c1\r\neth0");
    const reason = /^libcni's cache cannot be read: open .*c1-eth0: /;
    t.match(report.document(), {
      networks: [{ unknown }],
      undecided: [{ container: "c1", reason }],
    });
    t.match(logged, `net: of ${unknown} of 3 reservations it is not known whether `);
  });
}

const byList = { "--live": "/live", "--force": "", "--now": "" };

for (const [what, words, interrupt, kept, spoil] of [
  ["a reservation without an interface depends on every entry", byList, unreadable("c3"), "3 4"],
  ["a missing entry is no doubt", byList, unreadable("c1", "ENOENT"), "3"],
  ["nor is a name too long for an entry", byList, unreadable("c1", "ENAMETOOLONG"), "3"],
  [
    "what is from before this boot is kept, too",
    { "--now": "" },
    unreadable("c1"),
    "2 4",
    (machine: MemoryMachine) => machine.boot(),
  ],
] as const) {
  test(`gc: ${what}`, async (t) => {
    const machine = node();
    spoil?.(machine);
    run(gc, machine, interrupt, words);
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
    const refused = run(release, machine, interrupt, {}, [operand]).report;

    t.equal(refused.exitCode, 1);
    t.match(
      refused.text(),
      /Refused: whether the container that holds .* is alive is not known: libcni's cache cannot be read/,
    );
    t.equal(left(machine), "2 3 4");
    t.equal(run(release, machine, interrupt, { "--force": "" }, [operand]).report.exitCode, 0);
    t.equal(left(machine), kept);
  });
}
