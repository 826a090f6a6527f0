// test: own process
/** The lock between real processes, in a real directory: `flock(2)`, as the Go plugin takes it. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { type Test, test } from "tap";
import type { CLibrary } from "../../../src/system/node/c-library.ts";
import { createLock } from "../../../src/system/node/lock.ts";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { LockTimeout, type System, SystemError } from "../../../src/system/system.ts";
import { until } from "../../harness/until.ts";
import { LockProcess, lockHolder } from "./lock-process.ts";

/** A file system that refuses `flock(2)`, with ENOLCK. */
const refusing: CLibrary = {
  flock: () => 37,
  exchange: () => 0,
  setns: () => 38,
  interruptAfter: () => {},
  stopInterrupting: () => {},
};

/** Takes and releases the lock in this process. */
function lockOnce(
  directory: string,
  timeout: number,
  system: Pick<System, "lock"> = createNodeSystem(),
): void {
  const file = `${directory}/lock`;
  system.lock({ file, directory: `${directory}/own`, timeout })();
}

/** A process that has the lock. */
async function startHolder(t: Test, directory: string): Promise<LockProcess> {
  const holder = new LockProcess(t, directory);
  await holder.says("locked");
  return holder;
}

/** A process that waits for the lock, after `others` more. */
async function startWaiter(t: Test, directory: string, others = 0): Promise<LockProcess> {
  const waiter = new LockProcess(t, directory, { timeout: Number.MAX_VALUE });
  await until("a process that waits for the lock", () => waiters(directory) > others);
  return waiter;
}

/** How many processes wait for the lock file of that name now. */
function waiters(directory: string): number {
  const { ino } = statSync(`${directory}/lock`);
  const waiting = new RegExp(`-> FLOCK .*:${ino} `, "g");
  return readFileSync("/proc/locks", "utf8").match(waiting)?.length ?? 0;
}

test("processes wait for the lock, and get it in the order in which they came", async (t) => {
  const directory = t.testdir();
  const holder = await startHolder(t, directory);
  const queue: LockProcess[] = [];
  for (const others of [0, 1, 2]) queue.push(await startWaiter(t, directory, others));

  await holder.finish();

  for (const [index, next] of queue.entries()) {
    await next.says("locked");
    t.equal(waiters(directory), queue.length - 1 - index);
    t.throws(() => lockOnce(directory, 0), { message: /timed out/ });
    await next.finish();
  }
  t.doesNotThrow(() => lockOnce(directory, 0));
});

for (const [name, starter] of [
  ["", []],
  [", whatever the caller has done to signals", ["env", "--block-signal", "--ignore-signal=ALRM"]],
] as const) {
  test(`a wait that times out is bounded, and names the holder${name}`, async (t) => {
    const directory = t.testdir();
    const holder = await startHolder(t, directory);
    const start = performance.now();

    const late = new LockProcess(t, directory, { timeout: 200, starter });
    await late.says(`timed out: process ${holder.id} (node)`);

    t.ok(performance.now() - start >= 200, "it waited until the timeout");
    await late.finish();
    await holder.finish();
  });
}

test("the lock of a killed process is free at once", async (t) => {
  const directory = t.testdir();
  const holder = await startHolder(t, directory);

  await holder.kill();

  t.doesNotThrow(() => lockOnce(directory, 0));
});

test("whoever takes flock(2) on the file, as the Go plugin does, is excluded, and excludes", async (t) => {
  const directory = t.testdir();
  const file = `${directory}/lock`;
  const holder = await startHolder(t, directory);
  t.equal(spawnSync("flock", ["--nonblock", file, "true"]).status, 1);
  await holder.finish();

  const take = [process.execPath, lockHolder, directory, "0"];
  const stdout = execFileSync("flock", [file, ...take], { encoding: "utf8", input: "" });

  t.match(stdout, /^timed out/);
  t.equal(createNodeSystem().locksOutGoPlugin, true);
});

test("a process that waited for a lock file that was removed waits for the new one", async (t) => {
  const directory = t.testdir();
  const first = await startHolder(t, directory);
  const waiter = await startWaiter(t, directory);
  rmSync(`${directory}/lock`);
  const second = await startHolder(t, directory);

  await first.finish();
  await until("a process that waits for the new lock", () => waiters(directory) > 0);
  await second.finish();

  await waiter.says("locked");
  t.throws(() => lockOnce(directory, 0), { message: /timed out/ });
  await waiter.finish();
});

test("a FIFO in place of the lock file does not block the call", async (t) => {
  const directory = t.testdir();
  execFileSync("mkfifo", [`${directory}/lock`]);
  const holder = await startHolder(t, directory);

  t.throws(() => lockOnce(directory, 0), { message: /timed out/ });
  await holder.finish();
});

test("a lock file may be a symbolic link to a file, but none is made through one", (t) => {
  const directory = t.testdir({ file: "" });
  symlinkSync(`${directory}/file`, `${directory}/lock`);
  t.doesNotThrow(() => lockOnce(directory, 0));

  rmSync(`${directory}/file`);

  t.throws(() => lockOnce(directory, 0), { code: "ENOENT" });
  t.notOk(existsSync(`${directory}/file`));
  t.end();
});

for (const [name, library] of [
  ["on a file system that refuses flock(2)", refusing],
  ["on a Node.js without node:ffi", undefined],
] as const) {
  test(`${name}, a directory is the lock, which the Go plugin does not take`, (t) => {
    const directory = t.testdir({ own: {} });
    const system = createLock(createNodeSystem(), () => library);
    const request = { file: `${directory}/lock`, directory: `${directory}/own` };

    const unlock = system.lock({ ...request, timeout: 0 });

    t.ok(existsSync(`${directory}/own/lock`));
    t.throws(
      () => lockOnce(directory, 0, system),
      new LockTimeout(`${directory}/own/lock`, undefined),
    );
    t.equal(system.locksOutGoPlugin, false);
    unlock();
    t.doesNotThrow(() => lockOnce(directory, 0, system));
    t.end();
  });
}

test("where another machine may write, or that cannot be told, flock(2) is no lock for the Go plugin", (t) => {
  const refuse = (path: string): boolean => {
    throw new SystemError("statfs", path, "EIO");
  };
  for (const isLocal of [() => false, refuse]) {
    const system = createLock({ ...createNodeSystem(), isLocal });
    lockOnce(t.testdir(), 0, system);
    t.equal(system.locksOutGoPlugin, false);
  }
  t.end();
});

test("node:ffi is experimental, but nothing says so on standard error", (t) => {
  const script = `
    import { cLibrary } from "./src/system/node/c-library.ts";
    if (cLibrary() === undefined) throw new Error("no node:ffi");
    process.on("warning", ({ message }) => console.log(message));
    process.emitWarning("another warning");`;

  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", script],
    {
      encoding: "utf8",
    },
  );

  t.equal(status, 0, stderr);
  t.match(stdout, "another warning");
  t.notMatch(stdout + stderr, /experimental/i);
  t.end();
});
