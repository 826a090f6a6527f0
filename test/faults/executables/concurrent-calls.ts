/** Two hundred calls at once, for one lock. */

import { mkdirSync } from "node:fs";
import { holdLock } from "../../harness/held-lock.ts";
import { grantedAddresses } from "../../harness/network.ts";
import { requireDistinct, requireFailure, requireSuccess } from "./answers.ts";
import { putDated } from "./corrupt-file.ts";
import { FaultNetwork, HASTY } from "./network.ts";
import type { Ending, RunningCall } from "./running-call.ts";
import { allOf, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** A range with room for a thousand containers. */
const ipam = { ranges: [[{ subnet: "198.18.0.0/22" }]] };

/** The time limit in seconds, also for two hundred processes of the portable executable. */
const LIMIT = 180;

/** The age of a file in seconds, at which an empty one may be reused and a leftover removed. */
const AGE = 100;

/** How long two hundred processes take to start, in seconds. */
const ARRIVAL = 60;

/**
 * How many calls run at once. Two hundred processes of the portable executable may take half a minute to start, so only
 * exhaustive runs have them.
 */
const atOnce = {
  slow: { short: 8, full: 50, exhaustive: 200 },
  quick: { short: 50, full: 200, exhaustive: 200 },
} as const;

function countFor({ subject, extent }: Context): number {
  return atOnce[subject.name === "portable" ? "slow" : "quick"][extent];
}

/** All calls wait for a lock that another process holds, and then get it. */
async function served(trial: Trial): Promise<void> {
  const { verifier } = trial;
  const network = new FaultNetwork(trial, { ipam: { ...ipam, lockTimeoutSeconds: LIMIT } });
  const release = await holdLock(trial, network.directory);
  const calls = Array.from({ length: countFor(trial) }, (_, at) =>
    network.begin("ADD", `c${at}`, { limit: LIMIT }),
  );
  for (const call of calls) await call.awaitsLock();
  const early = network.reserved().length;
  verifier.require(early === 0, "accepted", `${early} were served while the lock was held`);
  await release();
  requireEach(trial, network, await endingsOf(calls));
}

/** Some calls wait for the lock and never get it; they could repair much in the network under it. */
async function refused(trial: Trial): Promise<void> {
  const { verifier, subject } = trial;
  const network = new FaultNetwork(trial, { ipam });
  await network.do("ADD", "other");
  mkdirSync(network.ownPath("new"), { recursive: true });
  for (const path of ["198.18.0.3", ".host-local-4194303-0"]) putDated(network.path(path), "", AGE);
  putDated(network.ownPath("new/4194303-0"), "", AGE);
  await holdLock(trial, network.directory);
  await network.mustNotChange("without the lock", async () => {
    // The Go plugin's GC does nothing, and needs no lock for that.
    const verbs =
      subject.name === "Go" ? (["ADD", "DEL"] as const) : (["ADD", "DEL", "GC"] as const);
    const calls = Array.from({ length: countFor(trial) }, (_, at) => {
      const differences = { ...HASTY, limit: HASTY.limit + ARRIVAL };
      return network.begin(verbs[at % verbs.length] ?? "ADD", "other", differences);
    });
    await network.mustWork("CHECK", "other", "blocked");
    await network.mustWork("STATUS", "", "blocked");
    const words = ["11 ", `after ${HASTY.ipam.lockTimeoutSeconds} s`];
    for (const ending of await endingsOf(calls)) {
      requireFailure(verifier, ending, "a call without the lock", ...words);
    }
  });
}

function endingsOf(calls: readonly RunningCall[]): Promise<readonly Ending[]> {
  return Promise.all(calls.map(({ ended }) => ended));
}

/** Requires that each ADD has an address of its own, which is also on disk. */
function requireEach({ verifier }: Trial, network: FaultNetwork, endings: readonly Ending[]): void {
  for (const ending of endings) requireSuccess(verifier, ending, "ADD", "blocked");
  requireDistinct(verifier, endings.flatMap(grantedAddresses));
  const files = network.reserved().length;
  verifier.require(files === endings.length, "leak", `${files} reservations for ${endings.length}`);
}

export const concurrentCallScenarios: readonly Scenario[] = [
  {
    fault: "up to two hundred calls wait for the lock at once",
    promise:
      "if it is released, each of them is served exactly once. If it is kept, each fails in time with code 11 and changes nothing",
    attempt: eachOf(
      [
        { what: "and it is given back", attempt: served },
        { what: "and it is never given back", attempt: refused },
      ],
      (trial, { attempt }) => attempt(trial),
      { some: allOf },
    ),
  },
];
