/** Which reservations may be released: a decision from what was seen, without looking at anything. */

import { type Sighting, sightingKey } from "../store/sightings.ts";
import type { Life } from "./live-source.ts";

/**
 * `ownerless`: it names no container, and is none of ours to release. `young`: dead, but no older than the grace
 * period. `waiting`: dead, and to be seen dead again after the grace period. `due`: to be released.
 */
export type Verdict = "alive" | "unknown" | "ownerless" | "young" | "waiting" | "due";

/** What is known of a reservation. */
export interface Candidate {
  /** `undefined` for a file that names no container, or is gone. */
  readonly seen: Omit<Sighting, "since"> | undefined;
  readonly life: Life;
}

/** The rules. */
export interface Rules {
  /** When the reservations were seen dead or alive, in milliseconds since the epoch. */
  readonly asOf: number;
  /** In milliseconds. */
  readonly grace: number;
  /** Whether one sighting is enough. */
  readonly isImmediate: boolean;
  /** Of earlier runs. */
  readonly before: readonly Sighting[];
}

/** A reservation that was judged. */
export interface Judged {
  readonly verdict: Verdict;
  /** To be remembered; `undefined` for what is not dead. */
  readonly sighting: Sighting | undefined;
}

const MILLISECOND = 1_000_000n;

/** Makes the judge of one run. */
export function judgeBy({ asOf, grace, isImmediate, before }: Rules): (one: Candidate) => Judged {
  const earlier = new Map(before.map((sighting) => [sightingKey(sighting), sighting.since]));
  return ({ seen, life }) => {
    if (seen === undefined) return { verdict: "ownerless", sighting: undefined };
    if (life !== "dead") return { verdict: life, sighting: undefined };
    const age = asOf - Number(seen.modified / MILLISECOND);
    // One from the future is young, too: its age is not known.
    if (age < 0 || age < grace) return { verdict: "young", sighting: undefined };
    const known = earlier.get(sightingKey(seen));
    // After the clock was set back, an earlier run may lie in the future: it counts from now on.
    const since = known === undefined ? asOf : Math.min(known, asOf);
    const isSeenTwice = known !== undefined && asOf - since >= grace && asOf > since;
    const verdict = isImmediate || isSeenTwice ? "due" : "waiting";
    return { verdict, sighting: { ...seen, since } };
  };
}
