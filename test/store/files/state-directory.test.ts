import { test } from "tap";
import {
  openStateDirectory,
  type StateDirectory,
} from "../../../src/store/files/state-directory.ts";
import { withLock } from "../../../src/store/lock.ts";
import { parseOwner } from "../../../src/store/reservations/owner.ts";
import type { System } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import { location, machineWith, open } from "../fixtures.ts";

const ROOT = "/data/.host-local";

test("where it is not used, everything is searched for, and nothing below it is touched", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.disk.putLink(location.temporaryDirectory, "/elsewhere");
  const system = machine.start();

  withLock(open(system), { timeoutSeconds: 0 }, (network) => {
    t.equal(network.allOwned().length, 1);
    network.release({ name: "10.0.0.2", owner: parseOwner("c1\r\neth0") });
  });

  const touched = system.calls.filter(
    ({ operation, path }) => path.startsWith("/data/.host-local") && operation !== "linkStatus",
  );
  t.same(touched, []);
});

/** The state directory of the network `net`, which may be used. */
function stateOf(system: System): StateDirectory {
  const state = openStateDirectory(system, ROOT, location.stateDirectory);
  if (state === undefined) throw new Error("it may not be used");
  return state;
}

test("a failed replacement is an error and leaves the earlier lines; without lines there is no file", async (t) => {
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
