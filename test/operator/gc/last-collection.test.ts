import { test } from "tap";
import { lastCollection, recordCollection } from "../../../src/operator/gc/last-collection.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, machineWith, open } from "../../store/fixtures.ts";

test("the time of the last collection is the one of the latest record", async (t) => {
  const machine = machineWith();
  const system = machine.start();
  t.equal(lastCollection(open(system)), undefined);

  recordCollection(open(system));
  const first = lastCollection(open(system));
  t.equal(first, system.now());
  machine.time += 60_000;
  recordCollection(open(system));

  t.equal(lastCollection(open(system)), (first ?? 0) + 60_000);
  t.same(machine.disk.filesUnder(location.stateDirectory), { "last-collection": "" });
});

test("a network without a directory is not recorded", async (t) => {
  const machine = new MemoryMachine();
  const system = machine.start();

  recordCollection(open(system));

  t.same(machine.disk.filesUnder("/"), {});
});

test("a failed record is not an error, and leaves the earlier one", async (t) => {
  const machine = machineWith();
  recordCollection(open(machine.start()));
  const earlier = lastCollection(open(machine.start()));
  machine.time += 60_000;

  recordCollection(open(machine.start({ interrupt: refuse("createFile", "ENOSPC") })));

  t.equal(lastCollection(open(machine.start())), earlier);
});

test("a directory of that name is no record", async (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(`${location.stateDirectory}/last-collection`);

  t.equal(lastCollection(open(machine.start())), undefined);
});
