import { test } from "tap";
import { indexState } from "../../src/store/index-state.ts";
import { exactEntry, writeEntry } from "../../src/store/owner-index.ts";
import { identityOf, readStamp, removeStamp, writeStamp } from "../../src/store/stamp.ts";
import type { MemoryMachine } from "../system/memory-machine.ts";
import { attachment, filesOf, indexOf, location, machineWith, withStore } from "./fixtures.ts";

const c1 = attachment("c1");

/** A machine whose index is in step. */
function indexed(): MemoryMachine {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2", "10.0.0.4": "" });
  withStore(machine.start(), () => {});
  return machine;
}

/** An index that misses a reservation, with a stamp that says that it does not. */
function withHole(): MemoryMachine {
  const machine = indexed();
  const system = machine.start();
  const stamp = readStamp(system, location);
  if (stamp === undefined) throw new Error("there is no stamp");
  removeStamp(system, location);
  writeEntry(system, location, exactEntry(c1), []);
  const paths = [location.directory, location.owners];
  const state = paths.map((path) => identityOf(system.status(path))).join(" ");
  writeStamp(system, location, { ...stamp, state });
  return machine;
}

test("an index is absent, current, stale or wrong", (t) => {
  t.same(indexState(machineWith().start(), location), { kind: "absent" });
  t.same(indexState(indexed().start(), location), { kind: "current" });

  const stale = indexed();
  stale.wait(1);
  stale.disk.put(`${location.directory}/10.0.0.9`, "c9\r\neth0");
  t.same(indexState(stale.start(), location), { kind: "stale" });

  t.match(indexState(withHole().start(), location), {
    kind: "wrong",
    missing: [{ name: "10.0.0.2" }],
  });
  t.end();
});

test("checking the index changes nothing", (t) => {
  const machine = withHole();
  const before = machine.disk.filesUnder("/");
  indexState(machine.start(), location);
  t.same(machine.disk.filesUnder("/"), before);
  t.end();
});

test("rebuilding corrects a wrong index", (t) => {
  const machine = withHole();
  const before = filesOf(machine);

  withStore(machine.start(), (store) => store.rebuildIndex());

  t.same(indexState(machine.start(), location), { kind: "current" });
  t.same(indexOf(machine), { "c1:eth0": "10.0.0.2", "c2:": "10.0.0.3" });
  t.same(filesOf(machine), before);
  t.end();
});
