import { test } from "tap";
import type { StateDirectory } from "../../../src/store/files/state-directory.ts";
import type { System } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import { location, machineWith, open } from "../fixtures.ts";

const ROOT = "/data/.host-local";

/** The state directory of the network `net`, which may be used. */
function stateOf(system: System): StateDirectory {
  const { state } = open(system);
  if (state === undefined) throw new Error("it may not be used");
  return state;
}

test("a failed replacement is an error and leaves the earlier lines; no lines leave no file", async (t) => {
  const machine = machineWith();
  stateOf(machine.start()).replaceLines("file", ["form 1"]);
  const refused = (operation: "createFile" | "rename" | "unlink"): StateDirectory =>
    stateOf(machine.start({ interrupt: refuse(operation, "EIO") }));

  t.throws(() => refused("createFile").replaceLines("file", ["form 2"]), { code: "EIO" });
  t.throws(() => refused("rename").replaceLines("file", ["form 2"]), { code: "EIO" });
  t.throws(() => refused("unlink").replaceLines("file", []), { code: "EIO" });

  t.same(stateOf(machine.start()).lines("file", 1e6), ["form 1", ""]);

  for (const _ of ["there", "missing"]) stateOf(machine.start()).replaceLines("file", []);
  t.notOk(machine.disk.has(`${location.stateDirectory}/file`));
});

test("a file that cannot be read for the moment is an error only where that matters", async (t) => {
  for (const code of ["EIO", "EMFILE", "EACCES"]) {
    const state = stateOf(machineWith().start({ interrupt: refuse("readFile", code) }));

    t.same(state.lines("file", 1e6), [], code);
    t.throws(() => state.requireText("file", 1e6), { code });
  }
});

test("no part of the path may be another user's, nor writable by group or others", async (t) => {
  const parts = [ROOT, location.stateDirectory, location.temporaryDirectory];
  for (const path of parts) {
    for (const [userId, given, fault] of [
      [0, { user: 0 }, undefined],
      [7, { user: 0 }, undefined],
      [7, { user: 7 }, undefined],
      [0, { user: 7 }, { kind: "other user", path, user: 7 }],
      [7, { user: 8 }, { kind: "other user", path, user: 8 }],
      [0, { mode: 0o755 }, undefined],
      [0, { mode: 0o720 }, { kind: "writable", path, mode: 0o720 }],
      [0, { mode: 0o1702 }, { kind: "writable", path, mode: 0o1702 }],
    ] as const) {
      const machine = machineWith();
      machine.disk.makeDirectories(location.temporaryDirectory, 0o700);
      machine.disk.give(path, given);

      const files = open(machine.start({ userId }));

      t.same(files.stateFault, fault, `${path} of ${JSON.stringify(given)} for user ${userId}`);
      t.equal(files.state === undefined, fault !== undefined);
    }
  }
});
