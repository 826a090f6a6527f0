import { test } from "tap";
import {
  readCollection,
  seenId,
  writeCollection,
} from "../../../src/operator/gc/collection-file.ts";
import { fileIdOf } from "../../../src/store/files/fingerprint.ts";
import { ownerOf } from "../../../src/store/reservations/owner.ts";
import { type Interrupt, stopAt } from "../../harness/interruption.ts";
import type { Outcome } from "../../harness/memory-machine.ts";
import { attachment, location, machineWith, open } from "../../store/fixtures.ts";

const ID = "10.0.0.2 12,1769860800123456789 c1 eth0";
const SINCE = 1_769_860_800_000;
const seenDead: ReadonlyMap<string, number> = new Map([
  [ID, SINCE],
  ["fd00::2 1 c2", 7],
]);
const nothing = { lastRun: undefined, seenDead: new Map<string, number>() };

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

test("what is dead, and the time of the last run, are read as written", async (t) => {
  const machine = machineWith();
  const files = open(machine.start());
  t.same(readCollection(files), nothing);
  for (const record of [
    { lastRun: SINCE, seenDead },
    { lastRun: SINCE, seenDead: nothing.seenDead },
    { lastRun: undefined, seenDead },
    nothing,
    nothing,
  ]) {
    writeCollection(files, record);
    t.same(readCollection(files), record);
  }
  t.same(machine.disk.filesUnder(location.stateDirectory), {}, "nothing takes no file");
});

for (const text of [
  "[]",
  '{"lastRun": "1", "seenDead": {}}',
  '{"lastRun": null, "seenDead": null}',
  '{"lastRun": null, "seenDead": ["a"]}',
]) {
  test(`${JSON.stringify(text.slice(0, 50))} has no reservation seen dead`, async (t) => {
    const machine = machineWith();
    machine.disk.makeDirectories(location.stateDirectory);
    machine.disk.put(`${location.stateDirectory}/collection.json`, text);

    t.same(readCollection(open(machine.start())), nothing);
  });
}

test("a run that is killed while it writes leaves the old times or the new ones", async (t) => {
  const machine = machineWith();
  const write = (since: number, interrupt?: Interrupt): Outcome =>
    machine.run({ interrupt }, (system) => {
      writeCollection(open(system), { ...nothing, seenDead: new Map([[ID, since]]) });
      return 0;
    });
  write(SINCE);

  const { calls } = machine.try(() => write(SINCE + 1));
  const found = [...calls.keys(), calls.length].map((at) =>
    machine.try(() => {
      write(SINCE + 1, stopAt(at + 1, 0.5));
      return readCollection(open(machine.start())).seenDead.get(ID);
    }),
  );

  t.same(new Set(found), new Set([SINCE, SINCE + 1]));
  t.equal(found[0], SINCE, "killed before it began");
  t.equal(found.at(-1), SINCE + 1, "killed after it had ended");
});
