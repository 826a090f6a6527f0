/** A call that is stopped in the middle of its work, as on a machine that swaps, or under a debugger. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { requireSuccess } from "./answers.ts";
import { FaultNetwork } from "./network.ts";
import { RunningCall } from "./running-call.ts";
import { type Case, NOT_MADE, type Trial } from "./scenario.ts";

/** The point at which a call stops: when it acts on a path below the data directory for the `nth` time. */
export interface StopPoint extends Case {
  readonly verb: "ADD" | "DEL";
  readonly path: string;
  readonly nth: number;
}

/** A network in which a call for `victim` holds the lock and is stopped. */
export interface HeldNetwork {
  readonly network: FaultNetwork;
  readonly holder: RunningCall;
}

/** The time limit of a call until it stops, and from there to its end, in milliseconds. */
const LIMIT = 60_000;

/** Why calls cannot be stopped here. */
export function stopObstacle(): string | undefined {
  const probe = spawnSync("strace", ["-o", "/dev/null", "true"], { env: runtimeEnvironment });
  return probe.status === 0 ? undefined : "Calls are stopped by strace, which cannot be run here.";
}

/** @param nth how many times the call has acted on the path by then */
export function stopPoint(verb: StopPoint["verb"], path: string, nth = 1): StopPoint {
  return { verb, path, nth, what: `${verb}, at ${path}${nth === 1 ? "" : `, time ${nth}`}` };
}

/** The points in an ADD after, and before, it is served in the first range set. */
export const inTheMiddle = stopPoint("ADD", "net/2001:db8::3");
export const atTheFirst = stopPoint("ADD", "net/198.51.100.3");

/**
 * Attempts with a call that holds the lock and is stopped by SIGSTOP.
 *
 * @param attempt what happens while the call is stopped
 * @param prepare what happens before that call
 * @returns `NOT_MADE` if the call never reaches the point
 */
export async function whileStopped(
  trial: Trial,
  { verb, path, nth }: StopPoint,
  attempt: (held: HeldNetwork) => Promise<void>,
  prepare?: (network: FaultNetwork) => void,
): Promise<typeof NOT_MADE | undefined> {
  const { subject, teardown } = trial;
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  if (verb === "DEL") await network.do("ADD", "victim");
  prepare?.(network);
  const log = join(scratchDirectory({ teardown }), "log");
  const under = [
    ...["strace", "--daemonize", "--follow-forks", "--output", log],
    ...["--trace-path", join(network.directory, path), "--trace=%file"],
    `--inject=%file:signal=STOP:when=${nth}`,
  ];
  const call = network.call(verb, "victim");
  const holder = new RunningCall(subject.path, call, { teardown, limit: LIMIT, under });
  const isStopped = await holder.goesOnUntil(
    `${verb} stops`,
    () => existsSync(log) && readFileSync(log, "utf8").includes("stopped by SIGSTOP"),
  );
  if (!isStopped) return NOT_MADE;
  await attempt({ network, holder });
  holder.kill();
  return undefined;
}

/** Continues the holder to its end, then uses the network. */
export async function resume({ verifier }: Trial, { network, holder }: HeldNetwork): Promise<void> {
  holder.goOn();
  requireSuccess(verifier, await holder.ended, "the call that stood still");
  await network.mustRecover("third", "fourth");
}
