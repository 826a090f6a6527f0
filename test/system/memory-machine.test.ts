/** The machine in memory behaves as a real one, and processes on it can be stopped and refused. */

import { type Test, test } from "tap";
import { LockTimeout, type System, SystemError } from "../../src/system/system.ts";
import { failAt, failDiskFrom, pauseAt, refuse, stopAt } from "../harness/interruption.ts";
import { MemoryMachine, type MemoryProcess } from "../harness/memory-machine.ts";
import { fileSystemCases, outcomeOf } from "./file-system-cases.ts";

const request = { file: "/lock", directory: "/own", timeout: 5000 };

test("file calls in memory behave as on the real file system", (t) => {
  for (const fileCase of fileSystemCases) {
    const machine = new MemoryMachine();
    machine.disk.makeDirectories("/root");

    t.same(outcomeOf(fileCase, machine.start(), "/root"), fileCase.expected, fileCase.name);
  }
  t.end();
});

test("a process has its own environment, input, output and id", (t) => {
  const machine = new MemoryMachine();
  const process = machine.start({ environment: { NAME: "value" }, stdin: "input" });

  process.writeStandardOutput("out");
  process.writeStandardError("err");

  t.equal(process.environment("NAME"), "value");
  t.equal(process.environment("OTHER"), undefined);
  t.equal(process.readStandardInput(5), "input");
  t.throws(() => process.readStandardInput(4), { code: "EFBIG" });
  t.equal(process.stdout, "out");
  t.equal(process.stderr, "err");
  t.not(process.processId(), machine.start().processId());
  t.end();
});

test("a file keeps its mode and creation time", (t) => {
  const machine = new MemoryMachine();
  machine.time = 1234;
  machine.start().createFile("/a", "", 0o640);

  machine.wait(1000);

  t.equal(machine.disk.modeOf("/a"), 0o640);
  t.equal(machine.start().status("/a").modified, 1_234_000_000n);
  t.end();
});

test("the file system's clock advances by its grain, and what is set is kept as it is", (t) => {
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
  t.end();
});

test("a file system that keeps full seconds keeps no more of a time that is set", (t) => {
  const machine = new MemoryMachine();
  machine.time = 1_234_567;
  machine.disk.resolution = 1_000_000_000n;
  machine.disk.put("/a", "");

  machine.disk.setModified("/a", 1_233_567_000_321n);

  t.equal(machine.disk.status("/a").modified, 1_233_000_000_000n);
  t.equal(machine.disk.status("/a").changed, 1_234_000_000_000n);
  t.end();
});

test("a file system without symbolic links refuses one to a free name only", (t) => {
  const { disk } = new MemoryMachine();
  disk.symbolicLinks = false;
  disk.put("/taken", "");

  t.throws(() => disk.symlink("text", "/a"), { code: "EPERM" });
  t.throws(() => disk.symlink("text", "/taken"), { code: "EEXIST" });
  t.end();
});

test("a file is not left half overwritten: line ends may stand behind the new text", (t) => {
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
  t.end();
});

test("everything below a removed directory is gone", (t) => {
  const { disk } = new MemoryMachine();
  disk.put("/a/b/c", "");
  disk.put("/d", "");

  disk.removeAll("/a");
  disk.removeAll("/a");

  t.same(disk.filesUnder("/"), { d: "" });
  t.end();
});

test("a trial run leaves no trace", (t) => {
  const machine = new MemoryMachine();
  machine.disk.put("/a/b", "before");
  machine.disk.link("/a/b", "/a/c");
  const { time } = machine;
  const before = [machine.disk.status("/a"), machine.disk.status("/a/b")];

  const tried = machine.try(() => {
    machine.wait(1000);
    machine.start().lock(request);
    machine.disk.write("/a/b", "after");
    machine.disk.unlink("/a/c");
    return machine.disk.filesUnder("/a");
  });

  t.same(tried, { b: "after" });
  t.same(machine.disk.filesUnder("/"), { "a/b": "before", "a/c": "before" });
  t.same([machine.disk.status("/a"), machine.disk.status("/a/b")], before);
  t.equal(machine.disk.status("/a/b").inode, machine.disk.status("/a/c").inode);
  t.equal(machine.time, time);
  t.equal(machine.locks.size, 0);
  t.end();
});

test("the processes' locks exclude the Go plugin, unless they are of another kind", (t) => {
  const machine = new MemoryMachine();

  t.equal(machine.start().locksOutGoPlugin, true);
  t.equal(machine.start({ lockKind: "portable" }).locksOutGoPlugin, false);
  t.end();
});

test("a mounted directory is another device, to which nothing can be linked or renamed", (t) => {
  const { disk } = new MemoryMachine();
  disk.put("/a", "");
  disk.mount("/mnt");
  disk.put("/mnt/taken", "");

  t.throws(() => disk.link("/a", "/mnt/a"), { code: "EXDEV" });
  t.throws(() => disk.link("/a", "/mnt/taken"), { code: "EEXIST" });
  t.throws(() => disk.rename("/a", "/mnt/a"), { code: "EXDEV" });
  t.end();
});

test("a file system without hard links refuses a link to a free name only", (t) => {
  const { disk } = new MemoryMachine();
  disk.hardLinks = false;
  disk.put("/a", "");
  disk.put("/taken", "");

  t.throws(() => disk.link("/a", "/b"), { code: "EPERM" });
  t.throws(() => disk.link("/a", "/taken"), { code: "EEXIST" });
  t.end();
});

test("a process is stopped before the chosen call, and nothing that it does afterwards counts", (t) => {
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
  t.end();
});

test("a stopped process has no outcome, whatever its program returns", (t) => {
  const outcome = new MemoryMachine().run({ interrupt: stopAt(1) }, (system) => {
    try {
      system.list("/");
    } catch {
      return 0;
    }
    return 1;
  });

  t.equal(outcome.exitCode, undefined);
  t.end();
});

test("a process is stopped in the middle of a new file", (t) => {
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
  t.end();
});

test("a call fails once, or on the disk from then on, or by its kind and path", (t) => {
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
  t.end();
});

test("a failed call has Go's message and changes nothing", (t) => {
  const machine = new MemoryMachine();
  const process = machine.start({ interrupt: failAt(1, "EACCES") });

  t.throws(() => process.createFile("/a", "", 0o600), { message: "open /a: permission denied" });

  t.same(machine.disk.list("/"), []);
  t.end();
});

test("errors on standard error are ignored", (t) => {
  const process = new MemoryMachine().start({ interrupt: failAt(1, "EBADF") });

  process.writeStandardError("lost");

  t.equal(process.stderr, "");
  t.end();
});

test("others run while a process is paused before a call", (t) => {
  const machine = new MemoryMachine();
  const others = pauseAt(1, () => machine.disk.put("/a", "theirs"));

  t.throws(() => machine.start({ interrupt: others }).createFile("/a", "", 0o600), {
    code: "EEXIST",
  });
  t.end();
});

function timesOut(t: Test, process: MemoryProcess): void {
  t.throws(() => process.lock(request), { message: /timed out/ });
}

test("a lock excludes other processes until it is released", (t) => {
  const machine = new MemoryMachine();
  const unlock = machine.start({ processId: 7 }).lock(request);
  const before = machine.time;

  t.throws(() => machine.start().lock(request), new LockTimeout("/own/lock", "process 7"));
  t.equal(machine.time - before, 5000);

  unlock();
  t.doesNotThrow(() => machine.start().lock(request));
  t.end();
});

test("a lock is released when its holder is killed", (t) => {
  const machine = new MemoryMachine();

  machine.run({ interrupt: stopAt(2) }, (system) => {
    system.lock(request);
    system.list("/");
    return 0;
  });

  t.doesNotThrow(() => machine.start().lock(request));
  t.end();
});

test("a lock that cannot be released is released when its process exits", (t) => {
  const machine = new MemoryMachine();
  const holder = machine.start({ interrupt: failAt(2, "EIO") });
  const unlock = holder.lock(request);

  unlock();
  timesOut(t, machine.start());
  holder.end();

  t.doesNotThrow(() => machine.start().lock(request));
  t.end();
});

test("locks of different kinds do not see each other", (t) => {
  const machine = new MemoryMachine();
  machine.start().lock(request);

  t.doesNotThrow(() => machine.start({ lockKind: "other" }).lock(request));
  timesOut(t, machine.start({ lockKind: "other" }));
  t.end();
});
