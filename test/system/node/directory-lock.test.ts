// test: own process
/** The lock of a Node.js without `flock(2)`, between real processes, in a real directory. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type Test, test } from "tap";
import { createLock } from "../../../src/system/node/lock.ts";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { LockTimeout, type System } from "../../../src/system/system.ts";
import { LockProcess } from "./lock-process.ts";

/** A killed holder blocks for 2 s and the second by which its date may lie ahead; the rest is for a busy machine. */
const LONGEST_BLOCK = 3000 + 10_000;

/** The lock of a Node.js without `node:ffi`. */
function createOlderLock(): Pick<System, "lock"> {
  return createLock(createNodeSystem(), () => undefined);
}

/** Takes and releases the lock in this process; returns how long it took, in milliseconds. */
function lockOnce(directory: string, timeout: number): number {
  const start = performance.now();
  const file = `${directory}/lock`;
  createOlderLock()
    .lock({ file, directory: `${directory}/own`, timeout })
    .release();
  return performance.now() - start;
}

/** Another process that takes the lock, on a Node.js without `node:ffi`. */
function startOther(t: Test, directory: string, timeout = 0): LockProcess {
  return new LockProcess(t, directory, { timeout, options: ["--no-experimental-ffi"] });
}

test("a process waits until the other releases the lock", async (t) => {
  const directory = t.testdir();
  const first = startOther(t, directory);
  await first.says("locked");
  const second = startOther(t, directory, 20_000);

  await first.finish();

  await second.says("locked");
  await second.finish();
  t.notOk(existsSync(`${directory}/own/lock`), "nobody has the lock");
});

test("a wait that times out is bounded", async (t) => {
  const directory = t.testdir();
  const holder = startOther(t, directory);
  await holder.says("locked");
  const start = performance.now();

  const late = new LockTimeout(`${directory}/own/lock`, undefined);
  t.throws(() => lockOnce(directory, 200), late);

  t.ok(performance.now() - start >= 200, "it waited until the timeout");
  t.ok(performance.now() - start < 10_000, "and not much longer");
});

test("a killed holder blocks others only until the lock goes stale", async (t) => {
  const directory = t.testdir();
  const holder = startOther(t, directory);
  await holder.says("locked");

  await holder.kill();

  t.ok(lockOnce(directory, 20_000) < LONGEST_BLOCK);
});

test("a lock from before the clock was set back blocks no longer than any other", async (t) => {
  const directory = t.testdir();
  mkdirSync(`${directory}/own/lock`, { recursive: true });
  const tomorrow = Date.now() / 1000 + 86_400;
  utimesSync(`${directory}/own/lock`, tomorrow, tomorrow);

  t.ok(lockOnce(directory, 20_000) < LONGEST_BLOCK);
});

test("a lock dated a day ago is taken at once", async (t) => {
  const directory = t.testdir();
  mkdirSync(`${directory}/own/lock`, { recursive: true });
  const yesterday = Date.now() / 1000 - 86_400;
  utimesSync(`${directory}/own/lock`, yesterday, yesterday);

  t.doesNotThrow(() => lockOnce(directory, 0));
});

test("a process that was stopped does not remove the lock that another took meanwhile", async (t) => {
  const directory = t.testdir();
  const stopped = startOther(t, directory);
  await stopped.says("locked");
  stopped.signal("SIGSTOP");
  const second = startOther(t, directory, 20_000);
  await second.says("locked");
  const before = statSync(`${directory}/own/lock`, { bigint: true });

  stopped.signal("SIGCONT");
  await stopped.finish();

  t.same(statSync(`${directory}/own/lock`, { bigint: true }).ino, before.ino);
  t.throws(() => lockOnce(directory, 0), { message: /timed out/ });
  await second.finish();
});

test("a lock file that is a FIFO without a reader does not block the call", async (t) => {
  const directory = t.testdir();
  execFileSync("mkfifo", [`${directory}/lock`]);
  const process = startOther(t, directory);

  await process.says("locked");

  t.throws(() => lockOnce(directory, 0), { message: /timed out/ });
  await process.finish();
});

for (const [name, put] of [
  ["a file", (path: string) => writeFileSync(path, "")],
  ["a link to nowhere", (path: string) => symlinkSync("nowhere", path)],
] as const) {
  test(`${name} in place of the lock is an error without a wait`, async (t) => {
    const directory = t.testdir({ own: {} });
    put(`${directory}/own/lock`);

    lockOnce(directory, 0);

    t.same(readdirSync(`${directory}/own`), ["lock"], "the lock was taken elsewhere");
  });
}

test("without a usable state directory, the lock is made beside the Go plugin's, and removed", async (t) => {
  const directory = t.testdir({ own: "a file" });
  const request = {
    file: `${directory}/lock`,
    directory: `${directory}/own`,
    timeout: 0,
  };

  const { release } = createOlderLock().lock(request);

  t.ok(existsSync(`${directory}/.host-local-lock`));
  t.throws(() => lockOnce(directory, 0), { message: /timed out/ });
  release();
  t.same(readdirSync(directory).sort(), ["lock", "own"]);
});

test("a lock that cannot be made is an error that names it", async (t) => {
  const directory = t.testdir({ own: "a file", ".host-local-lock": "a file" });
  utimesSync(`${directory}/.host-local-lock`, 1, 1);

  t.throws(() => lockOnce(directory, 0), {
    code: "ENOTDIR",
    message: `mkdir ${directory}/.host-local-lock: not a directory`,
  });
});

test("no lock file is made and no mtime is set through a symbolic link", async (t) => {
  const directory = t.testdir({ own: {}, old: {} });
  utimesSync(`${directory}/old`, 4e9, 4e9);
  symlinkSync(`${directory}/old`, `${directory}/own/lock`);
  lockOnce(directory, 10_000);
  t.equal(statSync(`${directory}/old`).mtimeMs, 4e12);

  rmSync(`${directory}/lock`);
  symlinkSync(`${directory}/nowhere`, `${directory}/lock`);
  t.throws(() => lockOnce(directory, 0), { code: "ENOENT" });
  t.notOk(existsSync(`${directory}/nowhere`));
});

test("a lock file may be a symbolic link to a file", async (t) => {
  const directory = t.testdir({ file: "" });
  symlinkSync(`${directory}/file`, `${directory}/lock`);

  t.doesNotThrow(() => lockOnce(directory, 0));
});
