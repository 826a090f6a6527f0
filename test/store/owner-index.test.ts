import { test } from "tap";
import { parseOwner } from "../../src/store/owner.ts";
import {
  type EntryName,
  entryOf,
  exactEntry,
  legacyEntry,
  listEntries,
  readEntry,
  refreshEntries,
  writeEntry,
} from "../../src/store/owner-index.ts";
import { listReservations, readOwners } from "../../src/store/reservations.ts";
import { refuse, stopAt } from "../system/interruption.ts";
import type { MemoryMachine } from "../system/memory-machine.ts";
import { attachment, indexOf, location, machineWith } from "./fixtures.ts";

const c1 = exactEntry(attachment("c1"));

/** Brings the index in step with the reservations. */
function refresh(machine: MemoryMachine): void {
  const system = machine.start();
  const all = readOwners(system, location, listReservations(system, location));
  refreshEntries(system, location, listEntries(system, location), all);
}

/** A machine on which the index has its directory, as a search has made it. */
function machineWithIndex(): MemoryMachine {
  const machine = machineWith();
  machine.disk.makeDirectories(location.owners);
  return machine;
}

test("every owner has its entry, but who is nobody or unknown", (t) => {
  t.equal(c1, "c1:eth0");
  t.equal(legacyEntry(attachment("c1").containerId), "c1:");
  t.equal(entryOf(parseOwner("c1\r\neth1")), "c1:eth1");
  t.equal(entryOf(parseOwner("c1")), "c1:");
  t.equal(entryOf(parseOwner("")), undefined);
  t.equal(entryOf({ kind: "unknown", reason: "", code: "EIO" }), undefined);
  t.end();
});

test("an entry is written, replaced and removed; nothing else remains", (t) => {
  const machine = machineWithIndex();
  const system = machine.start();
  t.same(readEntry(system, location, c1), { kind: "absent" });

  writeEntry(system, location, c1, ["10.0.0.2"]);
  t.same(readEntry(system, location, c1), { kind: "listed", names: ["10.0.0.2"] });

  writeEntry(system, location, c1, ["10.0.0.2", "2001:db8::2"]);
  t.same(readEntry(system, location, c1), { kind: "listed", names: ["10.0.0.2", "2001:db8::2"] });
  t.same(indexOf(machine), { "c1:eth0": "10.0.0.2 2001:db8::2" });

  writeEntry(system, location, c1, []);
  writeEntry(system, location, c1, []);
  t.same(indexOf(machine), {});
  t.end();
});

test("an entry is never missing while it is replaced, wherever its writer is killed", (t) => {
  for (let number = 1; number <= 5; number++) {
    const machine = machineWithIndex();
    writeEntry(machine.start(), location, c1, ["10.0.0.2"]);

    machine.run({ interrupt: stopAt(number), processId: 7 }, (system) => {
      writeEntry(system, location, c1, ["10.0.0.2", "10.0.0.3"]);
      return 0;
    });

    t.match(indexOf(machine)["c1:eth0"], /^10\.0\.0\.2( 10\.0\.0\.3)?$/);
    writeEntry(machine.start({ processId: 7 }), location, c1, ["10.0.0.4"]);
    t.same(indexOf(machine), { "c1:eth0": "10.0.0.4" }, "what it left is no hindrance");
  }
  t.end();
});

test("a list that is too long for a link, and an owner too long for a name, are unlisted", (t) => {
  const machine = machineWithIndex();
  const system = machine.start();
  const many = Array.from({ length: 500 }, (_, at) => `10.0.1.${at}`);
  const long = exactEntry(attachment("x".repeat(251)));

  writeEntry(system, location, c1, many);
  writeEntry(system, location, long, ["10.0.0.2"]);

  t.same(readEntry(system, location, c1), { kind: "unlisted" });
  t.same(readEntry(system, location, long), { kind: "unlisted" });
  t.same(indexOf(machine), { "c1:eth0": "?" });
  const longest = exactEntry(attachment("x".repeat(250)));
  writeEntry(system, location, longest, ["10.0.0.2"]);
  t.same(readEntry(system, location, longest), { kind: "listed", names: ["10.0.0.2"] });
  t.end();
});

test("an entry that cannot be read is unlisted; one that cannot be written is an error", (t) => {
  const machine = machineWith();
  const unread = machine.start({ interrupt: refuse("readLink", "EIO") });
  t.same(readEntry(unread, location, c1), { kind: "unlisted" });

  const full = machine.start({ interrupt: refuse("symlink", "ENOSPC") });
  t.throws(() => writeEntry(full, location, c1, ["10.0.0.2"]), { code: "ENOSPC" });
  t.end();
});

test("an index without its directory has no entries", (t) => {
  const machine = machineWith();
  t.same(listEntries(machine.start(), location), []);
  machine.disk.putLink(`${location.owners}/c1:eth0`, "10.0.0.2");

  t.same(listEntries(machine.start(), location), ["c1:eth0"]);
  t.end();
});

test("a search brings every entry in step", (t) => {
  const machine = machineWith({
    "10.0.0.2": "c1\r\neth0",
    "10.0.0.3": "c1\r\neth0",
    "10.0.0.4": "c1",
    "10.0.0.5": "",
    "10.0.0.6": "c2\r\neth0",
  });
  const stale: Readonly<Record<string, string>> = {
    "c1:eth0": "10.0.0.2",
    "c2:eth0": "?",
    "gone:eth0": "10.0.0.9",
    "new.1": "10.0.0.2",
  };
  for (const [name, text] of Object.entries(stale)) {
    machine.disk.putLink(`${location.owners}/${name}`, text);
  }
  machine.wait(60_001);

  refresh(machine);

  const { "c2:eth0": second, ...others } = indexOf(machine);
  t.same(others, { "c1:": "10.0.0.4", "c1:eth0": "10.0.0.2 10.0.0.3" });
  t.ok(["?", "10.0.0.6"].includes(second ?? ""));
  t.end();
});

test("an entry of the last minute may be one of a call at work, and stays", (t) => {
  const machine = machineWith();
  machine.disk.putLink(`${location.owners}/c1:eth0`, "10.0.0.2");

  machine.wait(59_999);
  refresh(machine);
  t.same(indexOf(machine), { "c1:eth0": "10.0.0.2" });

  machine.wait(2);
  refresh(machine);
  t.same(indexOf(machine), {});
  t.end();
});

test("files and directories among the entries are foreign, and stay", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.disk.put(`${location.owners}/notes`, "text");
  machine.disk.makeDirectories(`${location.owners}/directory`);
  machine.wait(60_001);

  refresh(machine);

  t.same(indexOf(machine), { notes: "text", "c1:eth0": "10.0.0.2" });
  t.ok(machine.disk.has(`${location.owners}/directory`));
  t.end();
});

test("an entry of the last minute loses no address that a call at work has announced", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.disk.putLink(`${location.owners}/c1:eth0`, "10.0.0.2 10.0.0.3");

  refresh(machine);

  t.equal(indexOf(machine)["c1:eth0"], "10.0.0.2 10.0.0.3");
  t.end();
});

test("an entry of the last minute that lists too little is no list any more", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c1\r\neth0" });
  machine.disk.putLink(`${location.owners}/c1:eth0`, "10.0.0.2");

  refresh(machine);
  t.same(readEntry(machine.start(), location, c1), { kind: "unlisted" });

  machine.wait(60_001);
  refresh(machine);
  t.equal(indexOf(machine)["c1:eth0"], "10.0.0.2 10.0.0.3");
  t.end();
});

test("an entry that is made while the search is under way stays as it is", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const system = machine.start();
  const all = readOwners(system, location, listReservations(system, location));
  const before = listEntries(system, location);
  machine.disk.putLink(`${location.owners}/c1:eth0`, "10.0.0.2 10.0.0.3");

  refreshEntries(system, location, before, all);

  t.equal(indexOf(machine)["c1:eth0"], "10.0.0.2 10.0.0.3");
  t.end();
});

test("an entry that cannot be read during a search is not left as it is", (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.disk.putLink(`${location.owners}/c1:eth0`, "10.0.0.9");
  const system = machine.start({ interrupt: refuse("readLink", "EIO") });
  const all = readOwners(system, location, listReservations(system, location));
  const attempt = (): boolean => refreshEntries(system, location, [c1 as EntryName], all);

  let isRefused = false;
  try {
    attempt();
  } catch {
    isRefused = true;
  }

  t.ok(isRefused || indexOf(machine)["c1:eth0"] === "?", "it errs or is rewritten");
  t.end();
});
