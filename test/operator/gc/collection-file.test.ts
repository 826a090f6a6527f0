import { test } from "tap";
import {
  readCollection,
  type SeenDead,
  writeCollection,
} from "../../../src/operator/gc/collection-file.ts";
import type { NetworkFiles } from "../../../src/store/files/network-files.ts";
import { type Interrupt, refuse, stopAt } from "../../harness/interruption.ts";
import type { MemoryMachine, Outcome } from "../../harness/memory-machine.ts";
import { location, machineWith, open } from "../../store/fixtures.ts";

const seenDead: SeenDead = {
  name: "10.0.0.2",
  owner: "c1\r\neth0",
  modified: 1_769_860_800_123_456_789n,
  since: 1_769_860_800_000,
};

/** Writes a record without a run. */
function writeSeenDead(files: NetworkFiles, dead: readonly SeenDead[]): void {
  writeCollection(files, { lastRun: undefined, seenDead: dead });
}

function readSeenDead(files: NetworkFiles): readonly SeenDead[] {
  return readCollection(files).seenDead;
}

test("the time of the last run is kept beside what is dead", async (t) => {
  const files = open(machineWith().start());
  t.same(readCollection(files), { lastRun: undefined, seenDead: [] });
  for (const dead of [[seenDead], []]) {
    writeCollection(files, { lastRun: 1_769_860_800_000, seenDead: dead });
    t.same(readCollection(files), { lastRun: 1_769_860_800_000, seenDead: dead });
  }
});

test("a directory of that name is no record", async (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(`${location.stateDirectory}/collection.json`);
  t.same(readCollection(open(machine.start())), { lastRun: undefined, seenDead: [] });
});

test("reservations seen dead are read as written, to the nanosecond", async (t) => {
  const machine = machineWith();
  const system = machine.start();
  t.same(readSeenDead(open(system)), []);

  const both = [seenDead, { ...seenDead, name: "fd00::2", owner: "c2" }];
  writeSeenDead(open(system), both);
  t.same(readSeenDead(open(system)), both);

  writeSeenDead(open(system), []);
  t.same(machine.disk.filesUnder(location.stateDirectory), {});
  writeSeenDead(open(system), []);
});

const digits = "1".repeat(1_000_000);
for (const text of [
  "",
  "[]",
  "null",
  '{"lastRun": "1", "seenDead": {}}',
  ...["[[]]", '[["a","b","c",1]]', '[["a","b","1","2"]]', "[1]", `[["a","b","${digits}",1]]`].map(
    (dead) => `{"lastRun": null, "seenDead": ${dead}}`,
  ),
]) {
  test(`${JSON.stringify(text.slice(0, 50))} has no reservation seen dead`, async (t) => {
    const machine = machineWith();
    machine.disk.makeDirectories(location.stateDirectory);
    machine.disk.put(`${location.stateDirectory}/collection.json`, text);

    t.same(readCollection(open(machine.start())), { lastRun: undefined, seenDead: [] });
  });
}

/** Writes one reservation that was seen dead; returns the outcome. */
function write(machine: MemoryMachine, later: SeenDead, interrupt?: Interrupt): Outcome {
  return machine.run({ interrupt }, (system) => {
    writeSeenDead(open(system), [later]);
    return 0;
  });
}

test("a run that is killed while it writes leaves the old list or the new one", async (t) => {
  const machine = machineWith();
  writeSeenDead(open(machine.start()), [seenDead]);
  const later = { ...seenDead, since: seenDead.since + 1 };

  const { calls } = machine.try(() => write(machine, later));
  const found = [...calls.keys(), calls.length].map((at) =>
    machine.try(() => {
      write(machine, later, stopAt(at + 1, 0.5));
      return readSeenDead(open(machine.start())).map(({ since }) => since);
    }),
  );

  t.ok(found.every(([since]) => since === seenDead.since || since === later.since));
  t.same(found[0], [seenDead.since], "killed before it began");
  t.same(found.at(-1), [later.since], "killed after it had ended");
});

test("a failed write is an error", async (t) => {
  const machine = machineWith();
  const system = machine.start({ interrupt: refuse("createFile", "ENOSPC") });

  t.throws(() => writeSeenDead(open(system), [seenDead]), { code: "ENOSPC" });
});
