/** The holder of the lock is killed or stopped. */

import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { DualStack, verifyRecovery } from "./dual-stack.ts";
import type { RunningCall } from "./running-call.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { describeStop, stopPoints } from "./stop-points.ts";
import { type StopPoint, startStopped, stopObstacle } from "./stopped-call.ts";
import { SHORT_TIMEOUT, type Verb, WatchedNetwork } from "./watched-network.ts";

/** Seconds after which a call has waited far too long, even on a busy machine. */
const LIMIT = 15;

/** A network in which a call for `victim` holds the lock and is stopped. */
export interface HeldNetwork {
  readonly network: WatchedNetwork;
  readonly holder: RunningCall;
}

/** @returns `undefined` where the call never comes to the point */
export async function holdAt(context: Context, stop: StopPoint): Promise<HeldNetwork | undefined> {
  const network = new WatchedNetwork(context);
  await network.do("ADD", "other");
  if (stop.verb === "DEL") await network.do("ADD", "victim");
  const { call, isStopped } = await startStopped(context, network, stop.verb, "victim", stop);
  return isStopped ? { network, holder: call } : undefined;
}

/** Continues the holder to its end, and uses the network afterwards. */
export async function resume({ network, holder }: HeldNetwork, verifier: Verifier): Promise<void> {
  holder.goOn();
  requireSuccess(verifier, await holder.ended, "the call that stood still");
  await requireNormality(network, verifier);
}

/** After it all: every address can be handed out once, and is freed. */
export async function requireNormality(network: WatchedNetwork, verifier: Verifier): Promise<void> {
  for (const containerId of ["third", "fourth"]) {
    requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
  }
  await verifyRecovery(new DualStack(network.subject, network.directory), verifier);
}

/** Does `attempt` at each point to which a call comes. */
function atEachStop(
  context: Context,
  attempt: (held: HeldNetwork, verifier: Verifier) => Promise<void>,
): Promise<readonly Attempt[]> {
  const attempts = sideBySide(stopPoints(context), 3, async (stop): Promise<readonly Attempt[]> => {
    const held = await holdAt(context, stop);
    if (held === undefined) return [];
    const verifier = new Verifier();
    await attempt(held, verifier);
    held.holder.kill();
    return [{ what: describeStop(stop), violations: verifier.violations }];
  });
  return attempts.then((lists) => lists.flat());
}

async function kill({ network, holder }: HeldNetwork, verifier: Verifier): Promise<void> {
  const waiting = network.begin("ADD", "third", LIMIT);
  holder.kill();
  requireSuccess(verifier, await waiting.ended, "the call that waited", "blocked");
  await requireNormality(network, verifier);
}

async function standStill(held: HeldNetwork, verifier: Verifier): Promise<void> {
  const { network, holder } = held;
  const before = stateOf(network.directory);
  const begin = (verb: Verb, containerId: string): RunningCall =>
    network.begin(verb, containerId, LIMIT, { ipam: { lockTimeoutSeconds: SHORT_TIMEOUT } });
  const waiting = [begin("ADD", "third"), begin("DEL", "victim")];
  // The Go plugin's does nothing, and needs no lock for that.
  if (network.subject.name !== "Go") waiting.push(begin("GC", ""));
  for (const verb of ["CHECK", "STATUS"] as const) {
    requireSuccess(verifier, await begin(verb, "other").ended, verb, "blocked");
  }
  for (const { ended } of waiting) {
    const words = ["11 ", `process ${holder.id}`, "lockTimeoutSeconds"];
    requireFailure(verifier, await ended, "a call without the lock", ...words);
  }
  const changes = changesBetween(before, stateOf(network.directory));
  verifier.require(changes === "", "torn", changes);
  await resume(held, verifier);
}

export const lockHolderScenarios: readonly Scenario[] = [
  {
    fault: "the holder of the lock is killed (SIGKILL) while another call waits",
    promise: "the other call is served, and every address can be handed out once",
    obstacle: stopObstacle,
    attempt: (context) => atEachStop(context, kill),
  },
  {
    fault: "the holder of the lock is stopped (SIGSTOP) for longer than others wait",
    promise:
      "they fail with code 11 in time, name the holder, and change nothing; CHECK and STATUS work; the holder, once continued, ends as usual",
    obstacle: stopObstacle,
    attempt: (context) => atEachStop(context, standStill),
  },
];
