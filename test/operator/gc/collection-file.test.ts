import { test } from "tap";
import {
  readCollection,
  seenId,
  writeCollection,
} from "../../../src/operator/gc/collection-file.ts";
import { fileIdOf } from "../../../src/store/files/fingerprint.ts";
import type { NetworkFiles } from "../../../src/store/files/network-files.ts";
import { ownerOf } from "../../../src/store/reservations/owner.ts";
import { type Interrupt, refuse, stopAt } from "../../harness/interruption.ts";
import type { MemoryMachine, Outcome } from "../../harness/memory-machine.ts";
import { attachment, location, machineWith, open } from "../../store/fixtures.ts";

const ID = "10.0.0.2 12,1769860800123456789 c1 eth0";
const SINCE = 1_769_860_800_000;
const seenDead: ReadonlyMap<string, number> = new Map([[ID, SINCE]]);
const nothing: ReadonlyMap<string, number> = new Map();

/** Writes a record without a run. */
function writeSeenDead(files: NetworkFiles, dead: ReadonlyMap<string, number>): void {
  writeCollection(files, { lastRun: undefined, seenDead: dead });
}

function readSeenDead(files: NetworkFiles): ReadonlyMap<string, number> {
  return readCollection(files).seenDead;
}

test("a reservation that is made again is another, and so is one of another attachment", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const found = machine.start().linkStatus("/data/net/10.0.0.2");
  const status = { id: fileIdOf(found) };
  const owner = ownerOf(attachment("c1"));
  const one = { name: "10.0.0.2", owner, status };
  const others = [
    { ...one, name: "10.0.0.3" },
    { ...one, owner: ownerOf(attachment("c1", "eth1")) },
    { ...one, status: { id: fileIdOf({ ...found, modified: found.modified + 1n }) } },
    { ...one, status: undefined },
    { ...one, owner: { kind: "unowned" } as const },
  ];
  t.equal(new Set([one, one, ...others].map(seenId)).size, 5);
  t.same(others.slice(3).map(seenId), [undefined, undefined]);
});

test("the time of the last run is kept beside what is dead", async (t) => {
  const files = open(machineWith().start());
  t.same(readCollection(files), { lastRun: undefined, seenDead: nothing });
  for (const dead of [seenDead, nothing]) {
    writeCollection(files, { lastRun: 1_769_860_800_000, seenDead: dead });
    t.same(readCollection(files), { lastRun: 1_769_860_800_000, seenDead: dead });
  }
});

test("a directory of that name is no record", async (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(`${location.stateDirectory}/collection.json`);
  t.same(readCollection(open(machine.start())), { lastRun: undefined, seenDead: nothing });
});

test("reservations seen dead are read as written", async (t) => {
  const machine = machineWith();
  const system = machine.start();
  t.same(readSeenDead(open(system)), nothing);

  const both = new Map([...seenDead, ["fd00::2 1 c2", 7]]);
  writeSeenDead(open(system), both);
  t.same(readSeenDead(open(system)), both);

  writeSeenDead(open(system), nothing);
  t.same(machine.disk.filesUnder(location.stateDirectory), {});
  writeSeenDead(open(system), nothing);
});

for (const text of [
  "",
  "[]",
  "null",
  '{"lastRun": "1", "seenDead": {}}',
  '{"lastRun": null, "seenDead": {"a": "1", "b": null}}',
  '{"lastRun": null, "seenDead": null}',
  '{"lastRun": null, "seenDead": ["a"]}',
]) {
  test(`${JSON.stringify(text.slice(0, 50))} has no reservation seen dead`, async (t) => {
    const machine = machineWith();
    machine.disk.makeDirectories(location.stateDirectory);
    machine.disk.put(`${location.stateDirectory}/collection.json`, text);

    t.same(readCollection(open(machine.start())), { lastRun: undefined, seenDead: nothing });
  });
}

/** Writes one reservation that was seen dead; returns the outcome. */
function write(
  machine: MemoryMachine,
  later: ReadonlyMap<string, number>,
  interrupt?: Interrupt,
): Outcome {
  return machine.run({ interrupt }, (system) => {
    writeSeenDead(open(system), later);
    return 0;
  });
}

test("a run that is killed while it writes leaves the old list or the new one", async (t) => {
  const machine = machineWith();
  writeSeenDead(open(machine.start()), seenDead);
  const later = new Map([[ID, SINCE + 1]]);

  const { calls } = machine.try(() => write(machine, later));
  const found = [...calls.keys(), calls.length].map((at) =>
    machine.try(() => {
      write(machine, later, stopAt(at + 1, 0.5));
      return readSeenDead(open(machine.start())).get(ID);
    }),
  );

  t.ok(found.every((since) => since === SINCE || since === SINCE + 1));
  t.equal(found[0], SINCE, "killed before it began");
  t.equal(found.at(-1), SINCE + 1, "killed after it had ended");
});

test("a failed write is an error", async (t) => {
  const machine = machineWith();
  const system = machine.start({ interrupt: refuse("createFile", "ENOSPC") });

  t.throws(() => writeSeenDead(open(system), seenDead), { code: "ENOSPC" });
});
