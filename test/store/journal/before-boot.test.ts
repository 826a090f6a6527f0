import { test } from "tap";
import type { NetworkFiles } from "../../../src/store/files/network-files.ts";
import {
  namesBeforeBoot,
  noteBeforeBoot,
  readNotes,
  reclaimable,
} from "../../../src/store/journal/before-boot.ts";
import { readJournal } from "../../../src/store/journal/journal-file.ts";
import { readAll, usualIn } from "../../../src/store/reservations/directory-scan.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, machineWith, notesOn, open, withNetwork } from "../fixtures.ts";

const FILE = `${location.stateDirectory}/before-boot`;
const JOURNAL = `${location.stateDirectory}/journal`;
const OTHER_MACHINE = `${"f".repeat(32)}\n`;
const four = {
  "10.0.0.3": "c2\r\neth0",
  "10.0.0.2": "c1\r\neth0",
  "10.0.0.4": "c3",
  "10.0.0.5": "",
};

/** A machine of which the journal lists four reservations, in its first boot. */
function machineWithJournal(other: Partial<MemoryMachine> = {}): MemoryMachine {
  const machine = Object.assign(machineWith(four), other);
  // Only what is older than the seal is certain to be from then.
  machine.wait(1000);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(5000);
  return machine;
}

function names(machine: MemoryMachine, interrupt?: Interrupt): readonly string[] {
  return [...namesBeforeBoot(open(machine.start({ interrupt })))];
}

/** A kernel that does not tell when it booted. */
const silent = refuse("readFile", "ENOENT", "/proc/stat");

/** Notes what is from before this boot, as the first call that keeps the journal. */
function note(machine: MemoryMachine): NetworkFiles {
  const files = open(machine.start());
  const { boot } = files;
  const seal = readJournal(files, undefined)?.seal;
  if (boot === undefined || seal === undefined) throw new Error("there is no seal");
  noteBeforeBoot(files, boot, seal, () => usualIn(readAll(files)));
  return files;
}

/** A machine in its second boot, in which two reservations are noted. */
function machineWithNotes(): MemoryMachine {
  const machine = machineWithJournal();
  machine.boot();
  note(machine);
  return machine;
}

function noted(machine: MemoryMachine): readonly string[] {
  return notesOn(machine).map(({ name }) => name);
}

test("namesBeforeBoot has the attachments' reservations of another boot, noted or not", async (t) => {
  const machine = machineWithJournal();
  t.same(names(machine), []);

  machine.boot();
  t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);
  t.same(names(machine, refuse("readFile", "EMFILE", "/etc/machine-id")), [], "not known");
  t.same(names(machine, refuse("linkStatus", "ENOENT", "/data/net/10.0.0.2")), ["10.0.0.3"]);
  t.notOk(machine.disk.has(FILE));

  note(machine);
  t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);
  t.same(noted(machine), ["10.0.0.2", "10.0.0.3"]);
  t.equal(machine.disk.modeOf(FILE), 0o600);
});

test("nothing is from before this boot where that is not certain", async (t) => {
  const doubts: Readonly<Record<string, (machine: MemoryMachine) => void>> = {
    "another machine": (machine) => Object.assign(machine, { machineId: OTHER_MACHINE }),
    "a machine without an id": (machine) => Object.assign(machine, { machineId: undefined }),
    "a machine id that is not set yet": (machine) =>
      Object.assign(machine, { machineId: "uninitialized\n" }),
    "an unknown boot": (machine) => Object.assign(machine, { bootId: undefined }),
    "a boot id of another form": (machine) => Object.assign(machine, { bootId: "unknown\n" }),
    "a disk of several machines": (machine) => Object.assign(machine, { isShared: true }),
    "no journal": ({ disk }) => disk.unlink(JOURNAL),
    "the journal of an older version": ({ disk }) =>
      disk.write(JOURNAL, disk.readFile(JOURNAL, 1e6).replace("journal 6", "journal 5")),
  };
  for (const [what, doubt] of Object.entries(doubts)) {
    for (const machine of [machineWithJournal(), machineWithNotes()]) {
      const isNoted = machine.disk.has(FILE);
      if (!isNoted) machine.boot();
      t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);
      doubt(machine);
      t.same(
        names(machine),
        isNoted && what.includes("journal") ? ["10.0.0.2", "10.0.0.3"] : [],
        what,
      );
    }
  }
});

test("a directory that was changed since has only what the journal lists for its owner and is older", async (t) => {
  for (const interrupt of [undefined, silent]) {
    const machine = machineWithJournal();
    machine.disk.put("/data/net/10.0.0.6", "c6\r\neth0");
    t.same(names(machine, interrupt), []);
    machine.boot();
    t.same(names(machine, interrupt), ["10.0.0.2", "10.0.0.3"]);

    machine.disk.put("/data/net/10.0.0.3", "c2\r\neth0");
    t.same(names(machine, interrupt), ["10.0.0.2"], "written since");
    machine.disk.write("/data/net/10.0.0.2", "c9\r\neth0");
    machine.disk.setModified("/data/net/10.0.0.2", 0n);
    t.same(names(machine, interrupt), [], "of another owner");
  }
  const machine = machineWith(four);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.disk.put("/data/net/10.0.0.6", "c6\r\neth0");
  machine.boot();
  t.same(names(machine), [], "all in one tick of the clock");
});

test("times do not count where the clock ran backwards, or did so for a while; an unchanged directory needs none", async (t) => {
  const machine = machineWithJournal();
  machine.boot();
  const behind = (milliseconds: number): void => {
    machine.time -= milliseconds;
  };
  machine.try(() => {
    behind(3_600_000);
    t.same(names(machine), ["10.0.0.2", "10.0.0.3"], "unchanged");
  });
  machine.try(() => {
    machine.disk.put("/data/net/10.0.0.6", "");
    t.same(names(machine), ["10.0.0.2", "10.0.0.3"]);
    behind(60_000);
    t.same(names(machine), []);
  });
  behind(60_000);
  machine.disk.put("/data/net/10.0.0.6", "");
  behind(-120_000);
  t.same(names(machine, silent), [], "as the directory shows");
});

test("a machine that never had an id is not known to be the same", async (t) => {
  const machine = machineWithJournal({ machineId: undefined });
  machine.boot();
  t.same(names(machine), []);
});

test("no note is of the running boot, such as that of a virtual machine that was set back", async (t) => {
  const machine = machineWithNotes();
  const [note] = readNotes(open(machine.start()));
  machine.bootId = `${note?.boot}\n`;
  t.same(noted(machine), []);
});

test("what was made anew in one boot is noted of that, and not of the one before", async (t) => {
  const machine = machineWithNotes();
  machine.wait(1000);
  machine.disk.unlink("/data/net/10.0.0.2");
  machine.disk.put("/data/net/10.0.0.2", four["10.0.0.2"]);
  machine.wait(1000);
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.boot();

  const notes = [...readNotes(note(machine))];

  t.same(
    notes.map(({ name, boot }) => [name, boot.at(-1)]),
    [
      ["10.0.0.3", "1"],
      ["10.0.0.2", "2"],
    ],
  );
});

test("a note is valid while the file is the one that was noted", async (t) => {
  const changes: Readonly<Record<string, (machine: MemoryMachine) => void>> = {
    gone: ({ disk }) => disk.unlink("/data/net/10.0.0.2"),
    "made anew": ({ disk }) => {
      disk.unlink("/data/net/10.0.0.2");
      disk.put("/data/net/10.0.0.2", four["10.0.0.2"]);
    },
    "written in place": ({ disk }) => disk.write("/data/net/10.0.0.2", four["10.0.0.2"]),
    "of another owner, dated back": ({ disk }) => {
      const { modified } = disk.status("/data/net/10.0.0.2");
      disk.write("/data/net/10.0.0.2", "c9\r\neth0");
      disk.setModified("/data/net/10.0.0.2", modified);
    },
    "a link": ({ disk }) => {
      disk.unlink("/data/net/10.0.0.2");
      disk.putLink("/data/net/10.0.0.2", "10.0.0.3");
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const machine = machineWithNotes();
    machine.wait(1000);
    change(machine);
    t.same(noted(machine), ["10.0.0.3"], what);
    t.same(names(machine), ["10.0.0.3"], what);
  }
});

test("nothing is noted by lines of nonsense, a file of another form, or where it may not be", async (t) => {
  const machine = machineWithNotes();
  const text = machine.disk.readFile(FILE, 1000);
  const [, line = ""] = text.split("\n");
  const [boot, , ...rest] = line.split(" ");
  const bad = ["", "x", `${boot} 10.0.0.9 c9 eth0`, `${line} more`, `x 10.0.0.9 ${rest.join(" ")}`];
  machine.disk.write(FILE, `${text}${bad.join("\n")}\n`);
  t.same(
    [...readNotes(open(machine.start()))].map(({ name }) => name),
    ["10.0.0.2", "10.0.0.3"],
  );
  machine.disk.write(FILE, text.replace("boot 2", "boot 1"));
  t.same([...readNotes(open(machine.start()))], []);
  machine.disk.putLink("/data/.host-local", "/elsewhere");
  t.same([...readNotes(open(machine.start()))], []);
});

test("notes that are void are removed once all were looked at; with the last of them, the file goes", async (t) => {
  const machine = machineWithNotes();
  const left = (): readonly string[] =>
    [...readNotes(open(machine.start()))].map(({ name }) => name);
  const look = (wanted: string, interrupt?: Interrupt): number =>
    [...reclaimable(open(machine.start({ interrupt })), (name) => name === wanted || undefined)]
      .length;

  machine.disk.unlink("/data/net/10.0.0.2");
  t.equal(look("10.0.0.2", refuse("linkStatus", "EIO", "/data/net/10.0.0.2")), 0);
  t.same(left(), ["10.0.0.2", "10.0.0.3"], "a file that cannot be seen may still be there");
  t.equal(look("10.0.0.3"), 1);
  t.same(left(), ["10.0.0.2", "10.0.0.3"], "what is not wanted is not looked at");
  t.equal(look("10.0.0.2"), 0);
  t.same(left(), ["10.0.0.3"]);
  machine.disk.unlink("/data/net/10.0.0.3");
  t.equal(look("10.0.0.3"), 0);
  t.notOk(machine.disk.has(FILE));
});

test("a file that has changed since the kernel booted is not from before, whatever its other times and the boot id say", async (t) => {
  const bootIdOfAnother = `${"2".repeat(8)}-2222-3333-4444-555555555555\n`;
  const covered = machineWithJournal();
  covered.bootId = bootIdOfAnother;
  t.same(names(covered), [], "a boot id that is mounted over");

  const restored = machineWithJournal();
  restored.boot();
  const { modified } = restored.disk.status("/data/net/10.0.0.2");
  restored.disk.unlink("/data/net/10.0.0.2");
  restored.disk.put("/data/net/10.0.0.2", four["10.0.0.2"]);
  restored.disk.setModified("/data/net/10.0.0.2", modified);
  t.same(names(restored), ["10.0.0.3"], "a backup that was restored since");

  const untold = machineWithJournal();
  untold.bootId = bootIdOfAnother;
  t.same(names(untold, silent), ["10.0.0.2", "10.0.0.3"]);
});
