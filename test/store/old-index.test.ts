import { test } from "tap";
import { removeOldIndex } from "../../src/store/old-index.ts";
import { location, machineWith } from "./fixtures.ts";

const { stateDirectory } = location;

test("the index of earlier versions is removed, and nothing else", (t) => {
  const machine = machineWith();
  const { disk } = machine;
  disk.putLink(`${stateDirectory}/owners/c1:eth0`, "10.0.0.2");
  disk.putLink(`${stateDirectory}/owners/c2:`, "10.0.0.3");
  disk.putLink(`${stateDirectory}/stamp`, "3 1 1 1 1 1 1 2 0 proven absent");
  disk.put(`${stateDirectory}/seen-dead.json`, "[]");

  removeOldIndex(machine.start(), location);
  removeOldIndex(machine.start(), location);

  t.same(disk.list(stateDirectory), ["seen-dead.json"]);
  t.end();
});

test("where the old index is removed, others can no longer read the state directory", (t) => {
  const machine = machineWith();
  machine.disk.putLink(`${stateDirectory}/owners/c1:eth0`, "10.0.0.2");
  t.equal(machine.disk.modeOf(stateDirectory), 0o755);

  removeOldIndex(machine.start(), location);

  t.same(
    [machine.disk.modeOf("/data/.host-local"), machine.disk.modeOf(stateDirectory)],
    [0o700, 0o700],
  );
  t.end();
});

test("an index through a symbolic link is not followed", (t) => {
  const machine = machineWith();
  machine.disk.put("/elsewhere/file", "");
  machine.disk.putLink(`${stateDirectory}/owners`, "/elsewhere");

  removeOldIndex(machine.start(), location);

  t.ok(machine.disk.has("/elsewhere/file"));
  t.end();
});

test("files that are not of the index stay, and with them its directory", (t) => {
  const machine = machineWith();
  const { disk } = machine;
  disk.putLink(`${stateDirectory}/owners/c1:eth0`, "10.0.0.2");
  disk.put(`${stateDirectory}/owners/notes`, "");
  disk.put(`${stateDirectory}/owners/more/notes`, "");
  disk.put(`${stateDirectory}/stamp`, "");

  removeOldIndex(machine.start(), location);

  t.same(disk.list(stateDirectory), ["owners", "stamp"]);
  t.same([...disk.list(`${stateDirectory}/owners`)].sort(), ["more", "notes"]);
  t.end();
});
