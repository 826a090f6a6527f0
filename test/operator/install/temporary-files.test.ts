/** temporary-files.ts: what killed installations leave. */

import { test } from "tap";
import { removeAbandoned } from "../../../src/operator/install/temporary-files.ts";
import { MemoryMachine, type MemoryProcess } from "../../harness/memory-machine.ts";

const BIN = "/opt/cni/bin";

/** A plugin directory with the temporary files of processes 77, which runs, and 78, which does not. */
function prepare(): { machine: MemoryMachine; system: MemoryProcess; names: () => string[] } {
  const machine = new MemoryMachine();
  const system = machine.start({ processId: 79 });
  for (const directory of [BIN, `${BIN}/.host-local.78.probe`, "/proc/77", "/proc/79"]) {
    system.makeDirectories(directory);
  }
  system.symlink("../host-local", `${BIN}/.host-local.78.probe/host-local`);
  for (const name of ["77", "77.new", "78", "78.new", "78.kept", "79.new", "note", "78.old"]) {
    system.createFile(`${BIN}/.host-local.${name}`, "", 0o755);
  }
  const names = (): string[] => [...system.list(BIN)].sort();
  return { machine, system, names };
}

/** The memory has no rmdir(2). */
function remove(system: MemoryProcess, removed: string[] = []): void {
  removeAbandoned(
    Object.assign(system, { removeDirectory: (path: string) => void removed.push(path) }),
    BIN,
  );
}

test("those of processes that run no more go at once, and its own; no other file does", (t) => {
  const { system, names } = prepare();
  const removed: string[] = [];
  remove(system, removed);
  t.strictSame(
    names().filter((name) => name !== ".host-local.78.probe"),
    [".host-local.77", ".host-local.77.new", ".host-local.78.old", ".host-local.note"],
  );
  t.strictSame(removed, [`${BIN}/.host-local.78.probe`]);
  t.strictSame(system.list(`${BIN}/.host-local.78.probe`), []);
  t.end();
});

test("those of a process that runs go after ten minutes: its number was another's before", (t) => {
  const { machine, system, names } = prepare();
  machine.wait(599_000);
  remove(system);
  t.ok(names().includes(".host-local.77.new"));
  machine.wait(2_000);
  remove(system);
  t.notOk(names().includes(".host-local.77.new"));
  t.end();
});
