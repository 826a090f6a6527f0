/** Holding a network's lock as another process would, whichever kind of lock the executable takes. */

import { spawn } from "node:child_process";
import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { ownDirectory, populate } from "./data-directory.ts";

/**
 * So often the portable lock is dated anew, in milliseconds. It goes stale after two seconds, and
 * its library itself dates it up to a second ahead; that spares a busy machine.
 */
const refreshEvery = 200;

/**
 * Holds the lock of the network `net` until the test ends: `flock(2)` on the reference's lock file,
 * which the native executable and the Go plugin take, and the directory that the portable
 * executable makes.
 *
 * @param t the test
 * @param directory the data directory
 * @param environment further variables of the process that takes `flock(2)`
 */
export async function holdLock(
  t: Pick<Test, "teardown">,
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const portable = portableLock(directory);
  mkdirSync(portable, { recursive: true });
  const refresh = setInterval(() => {
    const aSecondAhead = Date.now() / 1000 + 1;
    utimesSync(portable, aSecondAhead, aSecondAhead);
  }, refreshEvery);
  t.teardown(() => clearInterval(refresh));

  populate(directory, [{ path: "net/lock" }]);
  const holder = spawn("flock", [join(directory, "net/lock"), "sh", "-c", "echo held; exec cat"], {
    env: { ...process.env, ...environment },
  });
  t.teardown(() => holder.stdin.end());
  await new Promise((held, fail) => {
    holder.stdout.once("data", held);
    holder.once("error", fail);
    holder.once("exit", fail);
  });
}

/**
 * Leaves the portable executable's lock behind, as a killed process does.
 *
 * @param directory the data directory
 * @param age how many seconds ago the process died; negative where the clock was set back since
 */
export function abandonLock(directory: string, age: number): void {
  const portable = portableLock(directory);
  mkdirSync(portable, { recursive: true });
  const then = Date.now() / 1000 - age;
  utimesSync(portable, then, then);
}

function portableLock(directory: string): string {
  return join(directory, ownDirectory, "net/lock");
}
