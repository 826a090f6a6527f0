/** The machine in memory behaves as a real one; and what no test would notice if it did not happen to a process, happens. */

import { test } from "tap";
import { type System, SystemError } from "../../src/system/system.ts";
import { failAt, failDiskFrom, refuse, stopAt } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { fileSystemCases, outcomeOf } from "./file-system-cases.ts";

test("file calls in memory behave as on the real file system", async (t) => {
  for (const fileCase of fileSystemCases) {
    const machine = new MemoryMachine();
    machine.disk.makeDirectories("/root");
    for (const [name, target] of Object.entries(fileCase.links ?? {})) {
      machine.disk.putLink(`/root/${name}`, target);
    }

    t.same(outcomeOf(fileCase, machine.start(), "/root"), fileCase.expected, fileCase.name);
  }
});

test("the file system's clock advances by its grain, and what is set is kept as it is", async (t) => {
  const machine = new MemoryMachine();
  machine.time = 1_234_567;
  machine.disk.grain = 4_000_000n;

  machine.disk.put("/a", "");
  t.equal(machine.disk.status("/a").modified, 1_234_564_000_000n);

  machine.disk.setModified("/a", 1_234_567_000_321n);
  machine.wait(2);
  t.equal(machine.disk.status("/a").modified, 1_234_567_000_321n);
  t.equal(machine.disk.status("/a").changed, 1_234_564_000_000n);

  machine.disk.setModified("/a", 0n);
  t.equal(machine.disk.status("/a").changed, 1_234_568_000_000n);
});

test("a file is not left half overwritten: line ends may stand behind the new text", async (t) => {
  for (const [written, content] of [
    [0, "10.0.0.12"],
    [0.5, "10.0.0.3\n\n"],
  ] as const) {
    const machine = new MemoryMachine();
    machine.disk.put("/a", "10.0.0.12");

    machine.run({ interrupt: stopAt(1, written) }, (system) => {
      system.overwriteFile("/a", "10.0.0.3");
      return 0;
    });

    t.equal(machine.disk.readFile("/a", 100), content);
  }
});

test("a file system without hard links refuses a link to a free name only", async (t) => {
  const { disk } = new MemoryMachine();
  disk.hardLinks = false;
  disk.put("/a", "");
  disk.put("/taken", "");

  t.throws(() => disk.link("/a", "/b"), { code: "EPERM" });
  t.throws(() => disk.link("/a", "/taken"), { code: "EEXIST" });
});

test("a process is stopped before the chosen call, and nothing that it does afterwards counts", async (t) => {
  const machine = new MemoryMachine();

  const outcome = machine.run({ interrupt: stopAt(2) }, (system) => {
    system.createFile("/1", "", 0o600);
    try {
      system.createFile("/2", "", 0o600);
    } catch {
      // A handler that takes everything for a failure and goes on.
    }
    system.createFile("/3", "", 0o600);
    return 0;
  });

  t.equal(outcome.exitCode, undefined);
  t.same(machine.disk.list("/"), ["1"]);
});

test("a process is stopped in the middle of a new file", async (t) => {
  for (const [written, content] of [
    [0, ""],
    [0.5, "1234"],
  ] as const) {
    const machine = new MemoryMachine();

    machine.run({ interrupt: stopAt(1, written) }, (system) => {
      system.createFile("/a", "12345678", 0o600);
      return 0;
    });

    t.equal(machine.disk.readFile("/a", 100), content);
  }
});

test("a call fails once, or on the disk from then on, or by its kind and path", async (t) => {
  const tries = (system: System): readonly string[] =>
    [
      () => system.createFile("/a", "", 0o600),
      () => system.createFile("/b", "", 0o600),
      () => system.createFile("/c", "", 0o600),
      () => system.writeStandardOutput("out"),
    ].map((call) => {
      try {
        call();
        return "done";
      } catch (error) {
        return error instanceof SystemError ? error.code : "";
      }
    });
  const cases = [
    [failAt(2, "EIO"), ["done", "EIO", "done", "done"]],
    [failDiskFrom(2, "EROFS"), ["done", "EROFS", "EROFS", "done"]],
    [refuse("createFile", "ENOSPC"), ["ENOSPC", "ENOSPC", "ENOSPC", "done"]],
    [refuse("createFile", "ENOSPC", "/c"), ["done", "done", "ENOSPC", "done"]],
  ] as const;

  for (const [interrupt, expected] of cases) {
    t.same(tries(new MemoryMachine().start({ interrupt })), expected);
  }
});
