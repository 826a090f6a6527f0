import { test } from "tap";
import {
  openStateDirectory,
  type StateDirectory,
} from "../../../src/store/files/state-directory.ts";
import { withLock } from "../../../src/store/lock.ts";
import { parseOwner } from "../../../src/store/reservations/owner.ts";
import type { System } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { location, machineWith, open } from "../fixtures.ts";

const ROOT = "/data/.host-local";

const parts = [ROOT, location.stateDirectory, location.temporaryDirectory];

/** Whether the state directory is used on this machine. */
function usesStateDirectory(machine: MemoryMachine): boolean {
  return openStateDirectory(machine.start(), ROOT, location.stateDirectory) !== undefined;
}

test("the state directory is used where it, or a part of it, is missing or exists", async (t) => {
  t.ok(usesStateDirectory(new MemoryMachine()));
  const machine = new MemoryMachine();
  for (const part of parts) {
    machine.disk.makeDirectories(part);
    t.ok(usesStateDirectory(machine), part);
  }
});

test("it is not used where a part of it is not a directory", async (t) => {
  for (const part of parts) {
    const linked = machineWith();
    linked.disk.putLink(part, "/elsewhere");
    t.notOk(usesStateDirectory(linked), `${part} a link`);

    const file = machineWith();
    file.disk.put(part, "");
    t.notOk(usesStateDirectory(file), `${part} a file`);
  }
});

test("it is not used where lstat(2) fails on it", async (t) => {
  for (const part of parts) {
    const system = machineWith().start({ interrupt: refuse("linkStatus", "EACCES", part) });

    t.equal(openStateDirectory(system, ROOT, location.stateDirectory), undefined, part);
  }
});

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

const FILE = `${location.stateDirectory}/file`;

test("a file of lines is read as it was replaced, and is for its owner alone to read", async (t) => {
  const machine = machineWith();
  for (const lines of [["form 1", "a b", "c"], ["form 1"]]) {
    stateOf(machine.start()).replaceLines("file", lines);

    t.equal(machine.disk.readFile(FILE, 100), `${lines.join("\n")}\n`);
    t.same(stateOf(machine.start()).lines("file", 1e6), [...lines, ""]);
    t.same(
      stateOf(machine.start()).requireText("file", 1e6),
      lines.map((line) => `${line}\n`).join(""),
    );
  }
  t.equal(machine.disk.modeOf(FILE), 0o600);
  t.equal(machine.disk.modeOf(location.stateDirectory), 0o700);
  t.same(machine.disk.list(location.temporaryDirectory), []);
});

test("a file without lines is removed, and may be missing", async (t) => {
  const machine = machineWith();
  stateOf(machine.start()).replaceLines("file", []);
  stateOf(machine.start()).replaceLines("file", ["form 1"]);
  t.ok(machine.disk.has(FILE));

  stateOf(machine.start()).replaceLines("file", []);

  t.notOk(machine.disk.has(FILE));
  t.same(stateOf(machine.start()).requireText("file", 1e6), "");
});

test("a failed replacement is an error and leaves the earlier lines", async (t) => {
  const machine = machineWith();
  stateOf(machine.start()).replaceLines("file", ["form 1"]);
  const refused = (operation: "createFile" | "rename" | "unlink"): StateDirectory =>
    stateOf(machine.start({ interrupt: refuse(operation, "EIO") }));

  t.throws(() => refused("createFile").replaceLines("file", ["form 2"]), { code: "EIO" });
  t.throws(() => refused("rename").replaceLines("file", ["form 2"]), { code: "EIO" });
  t.throws(() => refused("unlink").replaceLines("file", []), { code: "EIO" });

  t.same(stateOf(machine.start()).lines("file", 1e6), ["form 1", ""]);
});

test("where there is no file that may be believed there are no lines", async (t) => {
  const missing = machineWith();
  const directory = machineWith();
  directory.disk.makeDirectories(FILE);
  for (const machine of [missing, directory]) {
    t.same(stateOf(machine.start()).lines("file", 1e6), []);
    t.same(stateOf(machine.start()).requireText("file", 1e6), "");
  }
  for (const code of ["EFBIG", "ELOOP"]) {
    const interrupt = refuse("readFile", code);
    t.same(stateOf(machineWith().start({ interrupt })).requireText("file", 1e6), "", code);
  }
});

test("a file that cannot be read for the moment is an error only where that matters", async (t) => {
  for (const code of ["EIO", "EMFILE", "EACCES"]) {
    const state = stateOf(machineWith().start({ interrupt: refuse("readFile", code) }));

    t.same(state.lines("file", 1e6), [], code);
    t.throws(() => state.requireText("file", 1e6), { code });
  }
});
