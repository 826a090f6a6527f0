import { test } from "tap";
import {
  openStateDirectory,
  type StateDirectory,
} from "../../../src/store/files/state-directory.ts";
import type { System } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import { location, machineWith } from "../fixtures.ts";

const ROOT = "/data/.host-local";

/** The state directory of the network `net`, which may be used. */
function stateOf(system: System): StateDirectory {
  const state = openStateDirectory(system, ROOT, location.stateDirectory);
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
