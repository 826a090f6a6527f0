import { test } from "tap";
import { Journal } from "../../../src/store/journal/journal.ts";
import { readJournal, SEVERAL } from "../../../src/store/journal/journal-file.ts";
import { readAll } from "../../../src/store/reservations/directory-scan.ts";
import { keyOf } from "../../../src/store/reservations/owner.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import {
  attachment,
  earlierOn,
  HELD,
  isSealed,
  journalOf,
  location,
  machineWith,
  open,
  withNetwork,
} from "../fixtures.ts";

const c1 = attachment("c1");
const key = keyOf(c1);

/** A machine with one reservation, of `c1`, and a journal that lists it. */
function machineWithJournal(): MemoryMachine {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.wait(1000);
  withNetwork(machine.start(), (network) => network.heldBy(c1, "search"));
  return machine;
}

function journalFile(machine: MemoryMachine): string {
  return machine.start().readFile(`${location.stateDirectory}/journal`, 1e6);
}

test("it answers as often as it is asked, until a change, and only under the lock", async (t) => {
  const machine = machineWithJournal();
  const journal = new Journal(open(machine.start()), HELD);
  const listed = () => journal.listing(c1)?.reservations.map(({ name }) => name);

  t.same(listed(), listed());
  t.same(listed(), ["10.0.0.2"]);
  journal.tracked(() => {});
  t.equal(listed(), undefined);
  t.equal(new Journal(open(machine.start()), undefined).listing(c1), undefined);
});

test("what is reserved and released is listed and counted from the end of the call on", async (t) => {
  const machine = machineWithJournal();
  const journal = new Journal(open(machine.start()), HELD);
  journal.tracked(() => {});
  journal.reserved(key, "10.0.0.3", "");
  journal.reserved(key, "10.0.0.4", "");
  journal.released(key, "10.0.0.2", true);
  journal.released(key, "10.0.0.3", false);
  journal.released(undefined, "10.0.0.9", false);

  t.same(journalOf(machine), { "c1 eth0": "10.0.0.2" });
  journal.close();
  t.same(journalOf(machine), { "c1 eth0": "10.0.0.4" });
  t.ok(isSealed(open(machine.start())));
});

test("what a journal of this boot lists and a search does not find is missing", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });
  withNetwork(machine.start(), (network) => network.heldBy(c1, "search"));
  machine.disk.unlink("/data/net/10.0.0.2");
  const missing = () => {
    const system = machine.start();
    const journal = new Journal(open(system), HELD);
    return journal.missingIn(readAll(open(system)));
  };

  t.same(missing(), ["10.0.0.2"]);
  machine.boot();
  t.same(missing(), [], "nobody knows who released it");
});

test("it is not sealed where somebody else has reserved an address since the search", async (t) => {
  for (const [what, expected] of [
    ["10.0.0.3", false],
    ["last_reserved_ip.0", true],
  ] as const) {
    const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
    const files = open(machine.start());
    const journal = new Journal(files, HELD);
    journal.renew(readAll(files));
    machine.disk.put(`${location.directory}/${what}`, "c2\r\neth0");
    journal.close();
    t.equal(isSealed(open(machine.start())), expected, what);
  }
});

test("what is no machine's id names no machine: it could make a seal longer than its line", async (t) => {
  const machine = machineWithJournal();
  const { machineId = "" } = machine;
  const odd = journalFile(machine).replace(machineId.trimEnd(), "x".repeat(170));
  machine.disk.write(`${location.stateDirectory}/journal`, odd);
  machine.wait(1000);

  withNetwork(machine.start(), (network) => network.heldBy(c1, "search"));

  t.equal(readJournal(open(machine.start()), undefined)?.seal?.machine, SEVERAL);
});

test("if the machine's id may not be read, a seal names no machine; if it fails for now, no seal", async (t) => {
  for (const [code, isPut] of [
    ["EACCES", true],
    ["EPERM", true],
    ["EMFILE", false],
  ] as const) {
    const interrupt = refuse("readFile", code, "/etc/machine-id");
    const sealedOn = (machine: MemoryMachine): unknown => {
      machine.disk.put(`${location.directory}/10.0.0.4`, "c2\r\neth0");
      machine.wait(1000);
      withNetwork(machine.start({ interrupt }), (network) => network.heldBy(c1, "search"));
      const { isCurrent = false, seal } = readJournal(open(machine.start()), undefined) ?? {};
      return [isCurrent, seal?.machine];
    };
    t.same(sealedOn(machineWith()), [isPut, undefined], code);
    const moved = machineWithJournal();
    moved.machineId = `${"f".repeat(32)}\n`;
    moved.boot();
    withNetwork(moved.start(), (network) => network.heldBy(c1, "search"));
    t.same(sealedOn(moved), [true, SEVERAL], code);
  }
});

test("a call that does not know its machine leaves a journal of an earlier boot to one that does", async (t) => {
  for (const code of ["ENOENT", "EACCES"]) {
    const machine = machineWithJournal();
    const container = refuse("readFile", code, "/etc/machine-id");
    machine.wait(5000);
    machine.boot();
    const before = journalFile(machine);
    // As the agent's gc, before the first call of the node.
    withNetwork(machine.start({ interrupt: container }), (network) => network.allOwned());
    t.equal(journalFile(machine), before, code);
    withNetwork(machine.start(), (network) => network.allOwned());
    machine.disk.put(`${location.directory}/10.0.0.3`, "c3\r\neth0");
    withNetwork(machine.start({ interrupt: container }), (network) => network.allOwned());
    t.equal(readJournal(open(machine.start()), undefined)?.isCurrent, true, "of the same boot");
    t.same(
      earlierOn(machine).map(({ name }) => name),
      ["10.0.0.2"],
    );
    machine.wait(5000);
    machine.boot();
    t.same(
      earlierOn(machine).map(({ name }) => name),
      ["10.0.0.2", "10.0.0.3"],
    );
  }
});

test("a journal unreadable for now stays, and tells the next call what is from before the boot", async (t) => {
  const machine = machineWithJournal();
  machine.wait(5000);
  machine.boot();
  const before = journalFile(machine);
  for (const interrupt of [refuse("findLines", "EIO"), undefined]) {
    t.equal(journalFile(machine), before);
    withNetwork(machine.start({ interrupt }), (network) => network.heldBy(c1, "search"));
  }
  t.same(
    earlierOn(machine).map(({ name }) => name),
    ["10.0.0.2"],
  );
});

test("nothing is written where nothing has changed", async (t) => {
  const process = machineWithJournal().start();
  withNetwork(process, (network) => network.heldBy(c1, "search"));
  t.notOk(process.calls.some(({ operation }) => /^(?:extend|create)File$/.test(operation)));
});
