/** Two hundred calls at once, for one lock. */

import { setTimeout as pause } from "node:timers/promises";
import { grantedAddresses } from "../../blackbox/network.ts";
import { holdLock } from "../../harness/held-lock.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import type { Ending, RunningCall } from "./running-call.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import type { Subject } from "./subject.ts";
import { mixture } from "./subjects.ts";
import { SHORT_TIMEOUT, WatchedNetwork } from "./watched-network.ts";

/** Room for a thousand. */
const ipam = { ranges: [[{ subnet: "10.0.0.0/22" }]] };

/** The timeout for the lock where none is configured, in seconds. */
const DEFAULT_TIMEOUT = 30;

/** How many calls there are, and in seconds how long they take to start, and may take in all. */
interface Crowd {
  readonly size: number;
  readonly arrival: number;
  readonly limit: number;
}

/** Two hundred processes of the portable executable may take half a minute to start: for exhaustive runs only. */
function crowdOf({ subject, extent }: Context): Crowd {
  if (subject.name !== "portable") {
    return extent === "short"
      ? { size: 50, arrival: 1, limit: 30 }
      : { size: 200, arrival: 2, limit: 30 };
  }
  return {
    short: { size: 8, arrival: 2, limit: 60 },
    full: { size: 50, arrival: 5, limit: 60 },
    exhaustive: { size: 200, arrival: 40, limit: 180 },
  }[extent];
}

/** Starts the calls one after the other, with pauses in which they can come to the lock. */
async function startAll(
  { size }: Crowd,
  startOne: (containerId: string, at: number) => RunningCall,
): Promise<readonly RunningCall[]> {
  const calls: RunningCall[] = [];
  for (let at = 0; at < size; at++) {
    calls.push(startOne(`c${at}`, at));
    await pause(1);
  }
  return calls;
}

async function served(context: Context): Promise<Attempt> {
  const network = new WatchedNetwork(context, { ipam });
  const verifier = new Verifier();
  const crowd = crowdOf(context);
  const release: (() => void)[] = [];
  await holdLock({ teardown: (free) => release.push(() => free?.()) }, network.directory);
  const enough = { ipam: { lockTimeoutSeconds: crowd.limit } };
  const calls = await startAll(crowd, (id) => network.begin("ADD", id, crowd.limit, enough));
  await pause(crowd.arrival * 1000);
  const early = network.reserved().length;
  verifier.require(early === 0, "accepted", `${early} were served while the lock was held`);
  for (const free of release) free();

  const endings = await Promise.all(calls.map(({ ended }) => ended));
  for (const ending of endings) requireSuccess(verifier, ending, "ADD", "blocked");
  requireEach(verifier, network, endings);
  return { what: `${crowd.size}, and it is given back`, violations: verifier.violations };
}

/** As when a node starts: nobody holds the lock, and the timeout is the default. */
async function rushed(context: Context, programs: readonly Subject[]): Promise<Attempt> {
  const network = new WatchedNetwork(context, { ipam });
  const verifier = new Verifier();
  const size = context.extent === "short" ? 30 : 200;
  const patient = { ipam: { lockTimeoutSeconds: DEFAULT_TIMEOUT } };
  const calls = Array.from({ length: size }, (_, at) => {
    const subject = programs[at % programs.length] ?? context.subject;
    return network.begin("ADD", `c${at}`, 2 * DEFAULT_TIMEOUT, { ...patient, subject });
  });
  const endings = await Promise.all(calls.map(({ ended }) => ended));
  for (const ending of endings) requireSuccess(verifier, ending, "ADD", "blocked");
  requireEach(verifier, network, endings);
  const names = programs.map(({ name }) => name).join(", ");
  return { what: `${size} at the same time, of ${names}`, violations: verifier.violations };
}

/** Requires that each ADD has an address of its own, which is on disk. */
function requireEach(
  verifier: Verifier,
  network: WatchedNetwork,
  endings: readonly Ending[],
): void {
  const granted = new Set(endings.flatMap(grantedAddresses)).size;
  verifier.require(granted === endings.length, "double", `${granted} of them`);
  const files = network.reserved().length;
  verifier.require(files === endings.length, "leak", `${files} reservations for ${endings.length}`);
}

async function refused(context: Context): Promise<Attempt> {
  const network = new WatchedNetwork(context, { ipam });
  const verifier = new Verifier();
  const crowd = crowdOf(context);
  await network.do("ADD", "other");
  await holdLock(context, network.directory);
  const before = stateOf(network.directory);
  const short = { ipam: { lockTimeoutSeconds: SHORT_TIMEOUT } };
  const calls = await startAll(crowd, (id, at) =>
    at % 2 === 0
      ? network.begin("ADD", id, crowd.limit, short)
      : network.begin("DEL", "other", crowd.limit, short),
  );
  for (const { ended } of calls) {
    requireFailure(
      verifier,
      await ended,
      "a call without the lock",
      "11 ",
      `after ${SHORT_TIMEOUT} s`,
    );
  }
  const changes = changesBetween(before, stateOf(network.directory));
  verifier.require(changes === "", "torn", changes);
  return { what: `${crowd.size}, and it is never given back`, violations: verifier.violations };
}

export const crowdScenarios: readonly Scenario[] = [
  {
    fault: "up to two hundred calls wait for the lock at once",
    promise:
      "if it is released, each of them is served exactly once; if it is kept, each fails in time with code 11 and changes nothing",
    attempt: (context) => Promise.all([served(context), refused(context)]),
  },
  {
    fault: "up to two hundred ADDs start at the same time, of one executable and of all mixed",
    promise: "each is served exactly once, in the default timeout",
    attempt: async (context) => [
      await rushed(context, [context.subject]),
      await rushed(context, mixture(context)),
    ],
  },
];
