// test: own process
/** The lock between real processes, in a real directory: its timer, and where there is no `flock(2)`. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "tap";
import type { CLibrary } from "../../../src/system/node/c-library.ts";
import { createLock } from "../../../src/system/node/lock.ts";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { LockTimeout, type System, SystemError } from "../../../src/system/system.ts";
import { LockProcess } from "./lock-process.ts";

/** A file system that refuses `flock(2)`, with ENOLCK. */
const refusing: CLibrary = {
  flock: () => 37,
  setns: () => 38,
  nameToHandle: () => 38,
  openByHandle: () => -38,
  routeSocket: () => ({ socket: -38, isStrict: false }),
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
  system.lock({ file, directory: `${directory}/own`, timeout }).release();
}

for (const [name, starter] of [
  ["", []],
  [", whatever the caller has done to signals", ["env", "--block-signal", "--ignore-signal=ALRM"]],
] as const) {
  test(`a wait that times out is bounded, and names the holder${name}`, async (t) => {
    const directory = t.testdir();
    const holder = new LockProcess(t, directory);
    await holder.says("locked");
    const start = performance.now();

    const late = new LockProcess(t, directory, { timeout: 200, starter });
    await late.says(`timed out: process ${holder.id} (node)`);

    t.ok(performance.now() - start >= 200, "it waited until the timeout");
    await late.finish();
    await holder.finish();
  });
}

test("if a file system refuses flock(2), a directory is the lock, which the Go plugin ignores", async (t) => {
  const directory = t.testdir({ own: {} });
  const system = createLock(createNodeSystem(), () => refusing);
  const request = { file: `${directory}/lock`, directory: `${directory}/own` };

  const { release, excludesGoPlugin } = system.lock({ ...request, timeout: 0 });

  t.ok(existsSync(`${directory}/own/lock`));
  t.throws(
    () => lockOnce(directory, 0, system),
    new LockTimeout(`${directory}/own/lock`, undefined),
  );
  t.equal(excludesGoPlugin, false);
  release();
  t.doesNotThrow(() => lockOnce(directory, 0, system));
});

test("if another machine may write, or may be there, flock(2) is no lock for the Go plugin", async (t) => {
  const refuse = (path: string): boolean => {
    throw new SystemError("statfs", path, "EIO");
  };
  for (const isLocal of [() => false, refuse]) {
    const system = createLock({ ...createNodeSystem(), isLocal });
    const { release, excludesGoPlugin } = system.lock({
      file: `${t.testdir()}/lock`,
      directory: undefined,
      timeout: 0,
    });
    release();
    t.equal(excludesGoPlugin, false);
  }
});

test("node:ffi is experimental, but nothing says so on standard error", async (t) => {
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
});
