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
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(3_600_000);
  machine.disk.put("/live", "c2\n");
  return machine;
}

/** What a command does and logs, with these options and operands. */
function run(
  command: typeof gc,
  machine: MemoryMachine,
  interrupt: Interrupt | undefined,
  words: Readonly<Record<string, string>>,
  operands: readonly string[] = [],
): { readonly report: Report; readonly logged: readonly string[] } {
  const logged: string[] = [];
  const { system } = startOperator(machine, interrupt);
  const context = contextOf(system, { ...places, ...words }, operands);
  const report = command.run({ ...context, log: (message) => logged.push(message) });
  return { report, logged };
}

/** The names of the reservations. */
function left(machine: MemoryMachine): readonly string[] {
  return Object.keys(filesOf(machine)).filter((name) => name !== "lock");
}

const now = { "--now": "", "--yes": "" };
const sources = {
  "--live": { "--live": "/live", "--force": "", ...now },
  "without a list": now,
};

for (const [source, words] of Object.entries(sources)) {
  test(`gc ${source}: multus' cache that cannot be read is an error, too`, async (t) => {
    const machine = node();
    machine.disk.makeDirectories(MULTUS_RESULTS);
    t.throws(() => run(gc, machine, refuse("list", "EIO", MULTUS_RESULTS), words), { code: "EIO" });
    t.equal(left(machine).length, 3);
  });

  for (const code of ["ENOTDIR", "EIO", "ESTALE", "EACCES"]) {
    test(`gc ${source}: ${code} on the directory of the cache is an error, and nothing is released`, async (t) => {
      const machine = node();

      t.throws(() => run(gc, machine, refuse("list", code, RESULTS), words), { code });
      t.equal(left(machine).length, 3);
    });

    test(`gc ${source}: ${code} on an entry keeps what depends on it, and says so`, async (t) => {
      const machine = node();
      const unreadable = refuse("readFile", code, `${RESULTS}/net-c1-eth0`);

      const { report, logged } = run(gc, machine, unreadable, words);

      t.equal(report.exitCode, 1);
      t.match(filesOf(machine), { "10.0.0.2": "c1\r\neth0" });
      t.match(report.document(), {
        networks: [{ unknown: source === "--live" ? 1 : 2 }],
        undecided: [
          { container: "c1", reason: /^libcni's cache cannot be read: open .*c1-eth0: / },
        ],
      });
      t.match(
        logged.join("\n"),
        source === "--live"
          ? /net: of 1 of 3 reservations it is not known whether .* alive: libcni's cache cannot be/
          : /net: of 2 of 3 reservations it is not known whether .* alive: libcni's cache cannot be/,
      );
    });
  }
}

test("gc: a reservation without an interface depends on every entry of its container", async (t) => {
  const machine = node();
  const unreadable = refuse("readFile", "EIO", `${RESULTS}/net-c3-eth0`);

  run(gc, machine, unreadable, sources["--live"]);

  t.same(left(machine), ["10.0.0.3", "10.0.0.4"]);
});

test("gc: what is from before this boot, too, is kept where the cache cannot be read", async (t) => {
  const machine = node();
  machine.boot();
  const unreadable = refuse("readFile", "EIO", `${RESULTS}/net-c1-eth0`);

  run(gc, machine, unreadable, sources["without a list"]);

  t.same(left(machine), ["10.0.0.2", "10.0.0.4"]);
});

test("gc: a missing cache, or a name too long for it, is no doubt", async (t) => {
  for (const code of ["ENOENT", "ENAMETOOLONG"]) {
    const machine = node();

    run(gc, machine, refuse("readFile", code, `${RESULTS}/net-c1-eth0`), sources["--live"]);

    t.same(left(machine), ["10.0.0.3"], code);
  }
});

for (const [what, operand, name, interrupt] of [
  ["an entry", "10.0.0.2", "10.0.0.2", refuse("readFile", "EIO", `${RESULTS}/net-c1-eth0`)],
  ["an entry", "c1", "10.0.0.2", refuse("readFile", "EIO", `${RESULTS}/net-c1-eth0`)],
  ["the directory", "10.0.0.4", "10.0.0.4", refuse("list", "EIO", RESULTS)],
] as const) {
  test(`release ${operand} refuses while ${what} of the cache cannot be read, unless forced`, async (t) => {
    const machine = node();

    const { report } = run(release, machine, interrupt, { "--yes": "" }, [operand]);

    t.equal(report.exitCode, 1);
    t.match(
      report.text(),
      /Refused: whether the container that holds .* is alive is not known: libcni's cache cannot be read/,
    );
    t.ok(filesOf(machine)[name]);
    t.equal(
      run(release, machine, interrupt, { "--yes": "", "--force": "" }, [operand]).report.exitCode,
      0,
    );
    t.notOk(filesOf(machine)[name]);
  });
}
