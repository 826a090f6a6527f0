/** A call that is stopped in the middle of its work, as on a machine that swaps, or under a debugger. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { RunningCall } from "./running-call.ts";
import type { Context } from "./scenario.ts";
import type { Verb, WatchedNetwork } from "./watched-network.ts";

/** Where a call is to stop: when it does the same with a path below the data directory for the `nth` time. */
export interface StopPoint {
  readonly verb: "ADD" | "DEL";
  readonly path: string;
  readonly nth: number;
}

/** The longest that a call may take until it stops, and from there to its end, in seconds. */
const LIMIT = 60;

/** The interval for checking whether a call has stopped, in milliseconds. */
const LOOK_EVERY = 5;

/** Why calls cannot be stopped here. */
export function stopObstacle(): string | undefined {
  const probe = spawnSync("strace", ["-o", "/dev/null", "true"], { env: runtimeEnvironment });
  return probe.status === 0 ? undefined : "Calls are stopped by strace, which cannot be run here.";
}

/**
 * Starts a call that is stopped by SIGSTOP at a point.
 *
 * @returns the call and whether it stopped; it ends without where it never comes there
 */
export async function startStopped(
  { subject, teardown }: Context,
  network: WatchedNetwork,
  verb: Verb,
  containerId: string,
  { path, nth }: Omit<StopPoint, "verb">,
): Promise<{ readonly call: RunningCall; readonly isStopped: boolean }> {
  const log = join(scratchDirectory({ teardown }), "log");
  const tracer = ["strace", "--daemonize", "--follow-forks", "--output", log];
  const trigger = [
    ...["--trace-path", join(network.directory, path), "--trace=%file"],
    `--inject=%file:signal=STOP:when=${nth}`,
  ];
  const launch = { teardown, limit: LIMIT * 1000, under: [...tracer, ...trigger] };
  const call = new RunningCall(subject.path, network.call(verb, containerId), launch);
  let hasEnded = false;
  void call.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    if (isStoppedIn(log)) return { call, isStopped: true };
    await pause(LOOK_EVERY);
  }
  return { call, isStopped: false };
}

function isStoppedIn(log: string): boolean {
  try {
    return readFileSync(log, "utf8").includes("stopped by SIGSTOP");
  } catch {
    return false;
  }
}
