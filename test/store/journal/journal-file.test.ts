import { test } from "tap";
import { parseContainerId } from "../../../src/cni/attachment.ts";
import { dateBack, type FileId, fingerprintOf } from "../../../src/store/files/fingerprint.ts";
import {
  ALL,
  type JournalContent,
  listingOf,
  readJournal,
  renewJournal,
  requireJournal,
  type Seal,
  sealedAt,
  sealJournal,
} from "../../../src/store/journal/journal-file.ts";
import { readAll } from "../../../src/store/reservations/directory-scan.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { attachment, location, machineWith, open } from "../fixtures.ts";

const path = `${location.stateDirectory}/journal`;
const c1 = attachment("c1");

function listing(lines: readonly string[]): readonly [names: readonly string[], complete: boolean] {
  const { reservations = [], isComplete = false } = listingOf({ found: lines }, c1) ?? {};
  return [reservations.map(({ name }) => name), isComplete];
}

/** What lines list for an attachment, and whether it holds no more than that. */
for (const [what, lines, names, isComplete] of [
  ["legacy beside others", ["c1 / 10.0.0.2", "c1 eth0 10.0.0.3"], ["10.0.0.2", "10.0.0.3"], true],
  ["other interfaces", ["c1 eth1 10.0.0.2", "c1 eth00 10.0.0.3", "c1 eth 10.0.0.4"], [], false],
] as const) {
  test(`the last line about an address counts: ${what}`, async (t) => {
    t.same(listing(lines), [names, isComplete]);
  });
}

/** A directory that is in any other state. */
const NOWHERE = { id: "1,2" as FileId, changed: "3" };

/** No records. */
const NONE: ReadonlyMap<string, string> = new Map();

/** Writes a journal anew and seals it, with something else in place of parts of the seal. */
function sealed(machine: MemoryMachine, other: Partial<Seal> = {}, lines = ""): void {
  const files = open(machine.start());
  const { state } = files;
  const boot = files.boot();
  if (state === undefined || boot === undefined) throw new Error("it cannot be sealed");
  const length = renewJournal(
    state,
    readAll(files),
    { boot, machine: files.requireMachine(), directory: NOWHERE },
    NONE,
    undefined,
  );
  const directory = dateBack(
    files.system,
    files.directory,
    fingerprintOf(files.system.status(files.directory)),
  );
  if (directory === undefined) throw new Error("it cannot be sealed");
  const seal = {
    boot,
    machine: files.requireMachine(),
    directory,
    length: length + lines.length,
    renewed: length,
  };
  sealJournal(state, lines, { ...seal, ...other });
}

function read(machine: MemoryMachine): JournalContent | undefined {
  return readJournal(open(machine.start()), parseContainerId("c1"));
}

/** The seal of the journal, where it is current. */
function currentSeal(machine: MemoryMachine): Seal | undefined {
  const journal = read(machine);
  return journal?.isCurrent === true ? journal.seal : undefined;
}

const two = { "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c10\r\neth0", "10.0.0.4": "c1", lock: "" };

test("written anew, it has the records of what is there for the same owner, in their order", async (t) => {
  const machine = machineWith({ ...two, "10.0.0.5": "c1\r\neth0" });
  const files = open(machine.start());
  const { state } = files;
  const boot = files.boot();
  if (state === undefined || boot === undefined) throw new Error("there is no journal");
  const record = (text: string): string => `${text} 1,2 70 pod /run/netns/a`;
  const records = new Map([
    ["10.0.0.5", record("c1 eth0 10.0.0.5")],
    ["10.0.0.9", record("c1 eth0 10.0.0.9")],
    ["10.0.0.2", record("c1 eth0 10.0.0.2")],
    ["10.0.0.3", record("c1 eth0 10.0.0.3")],
  ]);
  const seal = { boot, machine: undefined, directory: NOWHERE };
  renewJournal(state, readAll(files), seal, records, undefined);
  t.same(requireJournal(files, ALL)?.found, [
    "c10 eth0 10.0.0.3",
    records.get("10.0.0.5"),
    records.get("10.0.0.2"),
    "c1 / 10.0.0.4",
  ]);
});

test("the seal is current only for this boot, this state of the directory and this length", async (t) => {
  const machine = machineWith(two);
  const changes: readonly (readonly [what: string, change: () => void])[] = [
    ["another boot", () => machine.boot()],
    ["no boot id", () => Object.assign(machine, { bootId: undefined })],
    ["a reservation more", () => machine.disk.put("/data/net/10.0.0.9", "")],
    ["a reservation less", () => machine.disk.unlink("/data/net/10.0.0.2")],
    ["a line more", () => machine.disk.write(path, `${machine.disk.readFile(path, 1e6)}c1 eth0\n`)],
    ["cut off", () => machine.disk.write(path, machine.disk.readFile(path, 1e6).slice(0, -1))],
    [
      "another form",
      () => machine.disk.write(path, machine.disk.readFile(path, 1e6).replace("l 8", "l 7")),
    ],
    ["the directory gone", () => machine.disk.removeAll("/data/net")],
  ];

  for (const [what, change] of changes) {
    machine.try(() => {
      sealed(machine);
      t.ok(currentSeal(machine));
      change();
      t.equal(currentSeal(machine), undefined, what);
    });
    machine.boot();
  }
});

test("a seal of nonsense is not current", async (t) => {
  for (const other of [
    { renewed: Number.NaN },
    { renewed: 1.5 },
    { renewed: Number.POSITIVE_INFINITY },
    { length: -1 },
  ]) {
    const machine = machineWith(two);
    sealed(machine, other);
    t.equal(currentSeal(machine), undefined, JSON.stringify(other));
  }
});

test("a seal that does not say when it was put was put before anything", async (t) => {
  for (const changed of ["-", "", "x", "1.5"]) {
    const machine = machineWith(two);
    sealed(machine, { directory: { id: "1,2" as FileId, changed } });
    const seal = read(machine)?.seal;
    if (seal === undefined) throw new Error("no seal was read");
    t.equal(sealedAt(seal), 0n, changed);
  }
});

test("a journal grown to several times its length is not current, so that it is written anew", async (t) => {
  const machine = machineWith(two);
  sealed(machine, {}, "c1 eth1 10.0.0.5\n".repeat(3000));
  t.ok(currentSeal(machine), "a short one may grow");

  const lines = "c1 eth1 10.0.0.5\n".repeat(5000);
  sealed(machine, {}, lines);
  t.equal(currentSeal(machine), undefined);

  sealed(machine, { renewed: lines.length / 2 }, lines);
  t.ok(currentSeal(machine), "twice its length");
  sealed(
    machine,
    { renewed: 76 * 1_000_000 },
    `${"c".repeat(60)} eth1 10.0.0.5\n`.repeat(1_000_000),
  );
  t.equal(currentSeal(machine), undefined, "longer than that of any network");
});

test("what has NUL in it is no journal, nor what is longer than its lines can be", async (t) => {
  const line = "c1 eth0 10.0.0.2\n";
  for (const [what, change, isJournal] of [
    ["as it was", (text: string) => text, true],
    ["a NUL in another's line", (text: string) => text.replace("c10", "c1\0"), false],
    ["lines of a call that was killed", (text: string) => text + line.repeat(5000), true],
    ["more than that", (text: string) => text + line.repeat(50_000), false],
    ["line ends", (text: string) => text + "\n".repeat(1_000_000), false],
  ] as const) {
    const machine = machineWith(two);
    sealed(machine);
    machine.disk.write(path, change(machine.disk.readFile(path, 1e6)));
    for (const about of [ALL, c1.containerId] as const) {
      const system = machine.start();
      t.equal(requireJournal(open(system), about) !== undefined, isJournal, what);
      const reads = system.calls.filter(({ operation }) => operation === "findLines");
      if (about === ALL && what === "line ends") t.equal(reads.length, 1, "its lines are not read");
    }
  }
});

test("a journal that is written anew is not as long as the former one's seal says", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const files = open(machine.start());
  const { state } = files;
  const boot = files.boot();
  if (state === undefined || boot === undefined) throw new Error("there is no journal");
  const seal = { boot, machine: files.requireMachine(), directory: NOWHERE };
  const write = (former: Seal | undefined): number =>
    renewJournal(state, readAll(files), seal, NONE, former);
  const length = write(undefined);
  t.equal(write({ ...seal, length, renewed: length }), length + 1);
  t.equal(write({ ...seal, length: length + 1, renewed: length }), length);
});
