/** The holder of the lock is killed or stopped, or its lock is removed or replaced. */

import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { grantedAddresses } from "../../harness/network.ts";
import { requireDistinct, requireFailure, requireSuccess } from "./answers.ts";
import { type FaultNetwork, HASTY, type Verb } from "./network.ts";
import type { RunningCall } from "./running-call.ts";
import { allOf, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";
import {
  atTheFirst,
  type HeldNetwork,
  inTheMiddle,
  resume,
  type StopPoint,
  stopObstacle,
  stopPoint,
  whileStopped,
} from "./stopped-call.ts";

/** The paths that a call touches while it holds the lock. */
const touched = [
  ...["net/198.51.100.3", "net/2001:db8::3", "net/last_reserved_ip.0", "net/last_reserved_ip.1"],
  ".host-local/net/journal",
];

/** The stop points of a run; not every call reaches each one. */
function stopPoints({ extent }: Context): readonly StopPoint[] {
  return {
    short: [inTheMiddle],
    full: [atTheFirst, inTheMiddle, stopPoint("DEL", "net/198.51.100.3")],
    exhaustive: (["ADD", "DEL"] as const).flatMap((verb) =>
      touched.flatMap((path) => [1, 2, 3].map((nth) => stopPoint(verb, path, nth))),
    ),
  }[extent];
}

/** Makes an attempt at each point that a call reaches. */
function atEachStop(
  attempt: (trial: Trial, held: HeldNetwork) => Promise<void>,
): Scenario["attempt"] {
  return eachOf(
    stopPoints,
    (trial, stop) => whileStopped(trial, stop, (held) => attempt(trial, held)),
    { some: allOf },
  );
}

async function kill({ verifier }: Trial, { network, holder }: HeldNetwork): Promise<void> {
  const waiting = network.begin("ADD", "third");
  holder.kill();
  requireSuccess(verifier, await waiting.ended, "the call that waited", "blocked");
  await network.mustRecover("third");
}

async function standStill(trial: Trial, held: HeldNetwork): Promise<void> {
  const { verifier } = trial;
  const { network, holder } = held;
  const begin = (verb: Verb, containerId: string): RunningCall =>
    network.begin(verb, containerId, HASTY);
  await network.mustNotChange("without the lock", async () => {
    const waiting = [begin("ADD", "third"), begin("DEL", "victim")];
    // The Go plugin's GC does nothing, and needs no lock for that.
    if (network.subject.name !== "Go") waiting.push(begin("GC", ""));
    for (const verb of ["CHECK", "STATUS"] as const) {
      requireSuccess(verifier, await begin(verb, "other").ended, verb, "blocked");
    }
    for (const { ended } of waiting) {
      const words = ["11 ", `process ${holder.id}`, "lockTimeoutSeconds"];
      requireFailure(verifier, await ended, "a call without the lock", ...words);
    }
  });
  await resume(trial, held);
}

/** Ways in which the lock file of a network can be another one. */
const removals: Readonly<Record<string, (network: FaultNetwork) => void>> = {
  removed: remove,
  "replaced by a new one": (network) => {
    writeFileSync(network.path("lock.new"), "");
    renameSync(network.path("lock.new"), network.path("lock"));
  },
  "replaced by a link to another file": (network) => {
    remove(network);
    writeFileSync(`${network.directory}/other-lock`, "");
    symlinkSync("../other-lock", network.path("lock"));
  },
  "removed with the whole directory that the Go plugin does not know": (network) => {
    remove(network);
    rmSync(network.ownPath(""), { recursive: true, force: true });
  },
};

function remove(network: FaultNetwork): void {
  rmSync(network.path("lock"), { force: true });
}

/** Removals of the lock, before another call comes for it, or while it waits. */
const removalCases = Object.entries(removals).flatMap(([how, change]) =>
  [false, true].map((isAwaited) => ({
    what: `${how}${isAwaited ? " while another waits" : ""}`,
    change,
    isAwaited,
  })),
);

function removeLock(trial: Trial, { change, isAwaited }: (typeof removalCases)[number]) {
  return whileStopped(trial, atTheFirst, async (held) => {
    const { network } = held;
    if (!isAwaited) change(network);
    const third = network.begin("ADD", "third");
    await third.awaitsLock();
    if (isAwaited) change(network);
    await meet(trial, held, third);
  });
}

/** Another ADD takes the new lock, or waits for the lock of the stopped ADD: both are served. */
async function meet(trial: Trial, held: HeldNetwork, third: RunningCall): Promise<void> {
  const { verifier } = trial;
  const { network, holder } = held;
  holder.goOn();
  const endings = [await holder.ended, await third.ended];
  for (const ending of endings) requireSuccess(verifier, ending, "ADD", "blocked");
  requireDistinct(verifier, [...endings.flatMap(grantedAddresses), ...network.heldBy("other")]);
  await resume(trial, held);
}

export const lockHolderScenarios: readonly Scenario[] = [
  {
    fault: "the holder of the lock is killed (SIGKILL) while another call waits",
    promise: "the other call is served, and every address can be handed out once",
    obstacle: stopObstacle,
    attempt: atEachStop(kill),
  },
  {
    fault: "the holder of the lock is stopped (SIGSTOP) for longer than others wait",
    promise:
      "they fail with code 11 in time, name the holder, and change nothing. CHECK and STATUS work. The holder, once continued, ends as usual",
    obstacle: stopObstacle,
    attempt: atEachStop(standStill),
  },
  {
    fault: "the lock file is removed or replaced while it is held",
    promise: "no address is handed out twice, no file is torn, and nothing is left after the DELs",
    obstacle: stopObstacle,
    attempt: eachOf(removalCases, removeLock),
  },
];
