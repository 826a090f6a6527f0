/** Nothing is released for which libcni's cache could not be read: that it tells nothing does not show who is dead. */

import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { release } from "../../../src/operator/reservations/release.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, withNetwork } from "../../store/fixtures.ts";
import { memoryNode, RESULTS, remember, runOn } from "../memory-node.ts";

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

/** The last parts of the addresses that are still reserved. */
function left(machine: MemoryMachine): string {
  const names = Object.keys(filesOf(machine)).filter((name) => name !== "lock");
  return names.map((name) => name.slice("10.0.0.".length)).join(" ");
}

const unreadable = (code: string): Interrupt => refuse("readFile", code, `${RESULTS}/net-c1-eth0`);

const options = { "--live": "/live", "--force": "", "--now": "", "--yes": "" };

test("gc --live: EACCES on /cache/results is an error, and nothing is released", async (t) => {
  const machine = node();
  const interrupt = refuse("list", "EACCES", RESULTS);
  t.throws(() => runOn(machine, gc, { options, interrupt }), { code: "EACCES" });
  t.equal(left(machine), "2 3 4");
});

test("gc --live: an entry that cannot be read keeps what depends on it, and that is said", async (t) => {
  const machine = node();
  const report = runOn(machine, gc, { options, interrupt: unreadable("EIO") });

  t.equal(report.exitCode, 1);
  t.equal(filesOf(machine)["10.0.0.2"], "c1\r\neth0");
  const reason = /^libcni's cache cannot be read: open .*c1-eth0: /;
  t.match(report.document(), {
    networks: [{ unknown: 1 }],
    undecided: [{ container: "c1", reason }],
  });
  t.match(report.logged, "libcni's cache cannot be read");
});

for (const [what, code] of [
  ["a missing entry is no doubt", "ENOENT"],
  ["nor is a name too long for an entry", "ENAMETOOLONG"],
] as const) {
  test(`gc: ${what}`, async (t) => {
    const machine = node();
    runOn(machine, gc, { options, interrupt: unreadable(code) });
    t.equal(left(machine), "3");
  });
}

test("release 10.0.0.4 refuses while the directory of the cache cannot be read, unless forced", async (t) => {
  const machine = node();
  const interrupt = refuse("list", "EIO", RESULTS);
  const run = (given: Readonly<Record<string, string>>) =>
    runOn(machine, release, { operands: ["10.0.0.4"], options: given, interrupt });
  const refused = run({ "--yes": "" });

  t.equal(refused.exitCode, 1);
  t.match(
    refused.text(),
    /Whether the container that holds .* is alive is not known: libcni's cache cannot be read/,
  );
  t.equal(left(machine), "2 3 4");
  t.equal(run({ "--yes": "", "--force": "" }).exitCode, 0);
  t.equal(left(machine), "2 3");
});
