/** Holding a network's lock as another process would. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Test } from "tap";
import { populate } from "./data-directory.ts";

/**
 * Holds the lock of the network `net` until the test ends: `flock(2)` on the Go plugin's lock file.
 *
 * @param t the test
 * @param directory the data directory
 * @param environment further variables of the process that takes `flock(2)`
 * @returns a function that kills the holder
 */
export async function holdLock(
  t: Pick<Test, "teardown">,
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<() => Promise<unknown>> {
  populate(directory, [{ path: "net/lock" }]);
  const file = join(directory, "net/lock");
  const holder = spawn("flock", ["--close", file, "sh", "-c", "echo held; exec cat"], {
    env: { ...process.env, ...environment },
  });
  const ended = new Promise((end) => holder.once("exit", end));
  t.teardown(() => holder.stdin.end());
  await new Promise((held, fail) => {
    holder.stdout.once("data", held);
    holder.once("error", fail);
    holder.once("exit", fail);
  });
  return () => {
    holder.kill("SIGKILL");
    return ended;
  };
}
