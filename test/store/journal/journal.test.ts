import { test } from "tap";
import { Journal } from "../../../src/store/journal/journal.ts";
import { knownCount } from "../../../src/store/journal/journal-file.ts";
import { readAll } from "../../../src/store/reservations/directory-scan.ts";
import { keyOf } from "../../../src/store/reservations/owner.ts";
import { failAt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { attachment, journalOf, location, machineWith, open, withNetwork } from "../fixtures.ts";

const c1 = attachment("c1");
const key = keyOf(c1);

/** A machine with one reservation, of `c1`, and a journal that lists it. */
function machineWithJournal(): MemoryMachine {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  withNetwork(machine.start(), (network) => network.heldBy(c1, "search"));
  return machine;
}

function journalFile(machine: MemoryMachine): string {
  return machine.start().readFile(`${location.stateDirectory}/journal`, 1e6);
}

test("it is read once a call, and only under the lock", (t) => {
  const machine = machineWithJournal();
  const journal = new Journal(open(machine.start()), true);

  t.same(journal.read(c1.containerId)?.found, ["c1 eth0 10.0.0.2"]);
  t.equal(journal.read(c1.containerId), undefined);
  t.equal(new Journal(open(machine.start()), false).read(undefined), undefined);
  t.end();
});

test("what is reserved and released is listed and counted from the end of the call on", (t) => {
  const machine = machineWithJournal();
  const journal = new Journal(open(machine.start()), true);
  journal.change();
  journal.reserved(key, "10.0.0.3", true);
  journal.reserved(key, "10.0.0.4", true);
  journal.released(key, "10.0.0.2", true);
  journal.released(key, "10.0.0.3", false);

  t.same(journalOf(machine), { "c1 eth0": "10.0.0.2" });
  journal.close();
  t.same(journalOf(machine), { "c1 eth0": "10.0.0.4" });
  t.equal(knownCount(open(machine.start())), 2);
  t.end();
});

test("an abandoned journal stays as it is, and so does that of a change which may have failed", (t) => {
  for (const end of [
    (journal: Journal) => journal.abandon(),
    (journal: Journal) => {
      const system = machineWith().start({ interrupt: failAt(1, "EIO") });
      t.throws(() => journal.tracked(() => system.unlink("/data/net/10.0.0.2")), { code: "EIO" });
    },
  ]) {
    const machine = machineWithJournal();
    const before = journalFile(machine);
    const journal = new Journal(open(machine.start()), true);
    journal.change();
    journal.released(key, "10.0.0.2", true);
    end(journal);
    journal.close();
    t.equal(journalFile(machine), before);
  }
  t.end();
});

test("what a journal of this boot lists and a search does not find is missing", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });
  withNetwork(machine.start(), (network) => network.heldBy(c1, "search"));
  machine.disk.unlink("/data/net/10.0.0.2");
  const missing = () => {
    const system = machine.start();
    const journal = new Journal(open(system), true);
    journal.read(undefined);
    return journal.missingIn(readAll(open(system)));
  };

  t.same(missing(), ["10.0.0.2"]);
  machine.boot();
  t.same(missing(), [], "nobody knows who released it");
  t.end();
});

test("it never makes a call fail", (t) => {
  const machine = machineWithJournal();
  for (const operation of ["findLines", "createFile", "rename", "extendFile"] as const) {
    const system = machine.start({ interrupt: refuse(operation, "EIO") });
    const journal = new Journal(open(system), true);
    t.doesNotThrow(() => {
      journal.change();
      journal.renew(readAll(open(system)));
      journal.close();
    }, operation);
  }
  t.end();
});

test("it is not sealed where somebody else has reserved an address since the search", (t) => {
  for (const [what, expected] of [
    ["10.0.0.3", undefined],
    ["last_reserved_ip.0", 1],
  ] as const) {
    const machine = machineWithJournal();
    const files = open(machine.start());
    const journal = new Journal(files, true);
    journal.change();
    journal.renew(readAll(files));
    machine.disk.put(`${location.directory}/${what}`, "c2\r\neth0");
    journal.close();
    t.equal(knownCount(open(machine.start())), expected, what);
  }
  t.end();
});

test("none is written where the boot is not known", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.bootId = undefined;
  withNetwork(machine.start(), (network) => network.heldBy(c1, "search"));
  t.notOk(machine.disk.has(`${location.stateDirectory}/journal`));
  t.end();
});
