import { test } from "tap";
import {
  sweepAllTemporary,
  sweepTemporary,
  withTemporary,
} from "../../../src/store/files/temporary.ts";
import { isSystemError, type System } from "../../../src/system/system.ts";
import { failDiskFrom, refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, location, machineWith } from "../fixtures.ts";

const NEW = "/data/.host-local/net/new";

/** Puts `content` at `/data/net/goal` by way of a temporary file; returns that file's path. */
function place(system: System, content = "content"): string {
  return withTemporary(system, location, content, (temporary) => {
    system.link(temporary, "/data/net/goal");
    return temporary;
  });
}

test("a temporary file is in the state directory, named after the process, and is removed", (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(NEW);

  t.equal(place(machine.start({ processId: 7 })), `${NEW}/7.0`);

  t.same(filesOf(machine), { goal: "content" });
  t.equal(machine.disk.modeOf("/data/net/goal"), 0o600);
  t.same(machine.disk.filesUnder(NEW), {});
  t.end();
});

test("the directory for temporary files is made where it is missing", (t) => {
  const machine = machineWith();

  place(machine.start());

  t.same(filesOf(machine), { goal: "content" });
  t.end();
});

test("a file of a killed process with the same id is left alone", (t) => {
  const machine = machineWith();
  machine.disk.put(`${NEW}/7.0`, "theirs");

  place(machine.start({ processId: 7 }));

  t.same(filesOf(machine), { goal: "content" });
  t.same(machine.disk.filesUnder(NEW), { "7.0": "theirs" });
  t.end();
});

test("the temporary file is removed even if it could not be placed", (t) => {
  const machine = machineWith({ goal: "theirs" });

  t.throws(() => place(machine.start()), { code: "EEXIST" });

  t.same(machine.disk.filesUnder(NEW), {});
  t.end();
});

test("where the network's directory is on another file system, the temporary file is made there", (t) => {
  const machine = machineWith();
  machine.disk.mount(location.directory);

  t.equal(place(machine.start({ processId: 7 })), "/data/net/.host-local-7.0");

  t.same(filesOf(machine), { goal: "content" });
  t.same(machine.disk.filesUnder(NEW), {});
  t.end();
});

test("a temporary file that cannot be removed is not an error", (t) => {
  const machine = machineWith();

  place(machine.start({ interrupt: refuse("unlink", "EIO") }));

  t.same(filesOf(machine), { goal: "content" });
  t.end();
});

test("a temporary file that cannot be written is an error", (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(NEW);

  t.throws(() => place(machine.start({ interrupt: refuse("createFile", "ENOSPC") })), {
    message: "open /data/net/.host-local-1001.0: no space left on device",
  });
  t.end();
});

test("where the state directory is not writable, the temporary file is made in the network's directory", (t) => {
  for (const code of ["ENOSPC", "EROFS", "EACCES", "ENOTDIR", "ENAMETOOLONG"]) {
    const machine = machineWith();
    const interrupt = refuse("createFile", code, `${NEW}/7.0`);

    t.equal(place(machine.start({ processId: 7, interrupt })), "/data/net/.host-local-7.0", code);

    t.same(filesOf(machine), { goal: "content" });
  }
  t.end();
});

test("where the state directory is not used, nothing is made or removed in it", (t) => {
  const machine = machineWithLeftOvers();
  const elsewhere = { ...location, usesStateDirectory: false };

  sweepAllTemporary(machine.start(), elsewhere);
  withTemporary(machine.start(), elsewhere, "content", (temporary) => {
    machine.disk.link(temporary, "/data/net/goal");
  });

  t.same(machine.disk.filesUnder(NEW), { "1.0": "", "2.0": "" });
  t.equal(machine.disk.readFile("/data/net/goal", 100), "content");
  t.end();
});

/** A machine with an old and a young temporary file in either place, and an old reservation. */
function machineWithLeftOvers(): MemoryMachine {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", ".host-local-1.0": "" });
  machine.disk.put(`${NEW}/1.0`, "");
  machine.wait(30_000);
  machine.disk.put(`${NEW}/2.0`, "");
  machine.disk.put("/data/net/.host-local-2.0", "");
  machine.wait(31_000);
  return machine;
}

test("a sweep removes temporary files of the state directory that are older than a minute", (t) => {
  const machine = machineWithLeftOvers();

  sweepTemporary(machine.start(), location);

  t.same(machine.disk.filesUnder(NEW), { "2.0": "" });
  t.same(Object.keys(filesOf(machine)), [".host-local-1.0", ".host-local-2.0", "10.0.0.2"]);
  t.end();
});

test("a full sweep also removes old ones in the network's directory, and nothing else there", (t) => {
  const machine = machineWithLeftOvers();

  sweepAllTemporary(machine.start(), location);

  t.same(machine.disk.filesUnder(NEW), { "2.0": "" });
  t.same(Object.keys(filesOf(machine)), [".host-local-2.0", "10.0.0.2"]);
  t.end();
});

test("a sweep without directories makes none", (t) => {
  const machine = machineWith();

  sweepAllTemporary(machine.start(), location);

  t.notOk(machine.disk.has(location.stateDirectory));
  t.end();
});

test("a sweep ignores failed system calls", (t) => {
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const system = machineWithLeftOvers().start({ interrupt: failDiskFrom(number, "EIO") });

    t.doesNotThrow(() => sweepAllTemporary(system, location));
  }
  t.end();
});

test("only another file system moves the temporary file to the network's directory", (t) => {
  const machine = machineWith();
  const system = machine.start({ interrupt: refuse("link", "EIO") });

  try {
    place(system);
    t.fail("it throws");
  } catch (error) {
    t.ok(isSystemError(error, "EIO"));
  }

  t.same(filesOf(machine), {});
  t.end();
});
