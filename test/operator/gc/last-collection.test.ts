import { test } from "tap";
import {
  lastCollection,
  lastCollectionPath,
  recordCollection,
} from "../../../src/operator/gc/last-collection.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, machineWith } from "../../store/fixtures.ts";

test("the time of the last collection is the one of the latest record", (t) => {
  const machine = machineWith();
  const system = machine.start();
  t.equal(lastCollection(system, location), undefined);

  recordCollection(system, location);
  const first = lastCollection(system, location);
  t.equal(first, system.now());
  machine.time += 60_000;
  recordCollection(system, location);

  t.equal(lastCollection(system, location), (first ?? 0) + 60_000);
  t.same(machine.disk.filesUnder(location.stateDirectory), { "last-collection": "" });
  t.end();
});

test("a network without a directory is not recorded", (t) => {
  const machine = new MemoryMachine();
  const system = machine.start();

  recordCollection(system, location);

  t.same(machine.disk.filesUnder("/"), {});
  t.end();
});

test("a failed record is no error, and leaves the earlier one", (t) => {
  const machine = machineWith();
  recordCollection(machine.start(), location);
  const earlier = lastCollection(machine.start(), location);
  machine.time += 60_000;

  recordCollection(machine.start({ interrupt: refuse("createFile", "ENOSPC") }), location);

  t.equal(lastCollection(machine.start(), location), earlier);
  t.end();
});

test("a directory of that name is no record", (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(lastCollectionPath(location));

  t.equal(lastCollection(machine.start(), location), undefined);
  t.end();
});
