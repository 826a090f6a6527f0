/** Which reservations may be released: a decision from what was seen, without looking at anything. */

import { type SeenDead, seenDeadKey } from "../../store/seen-dead.ts";
import type { Liveness } from "./live-source.ts";

/**
 * `ownerless`: it names no container, and is none of ours to release. `young`: dead, but no older than the grace
 * period. `waiting`: dead, and to be seen dead again after the grace period. `due`: to be released.
 */
export type Decision = "alive" | "unknown" | "ownerless" | "young" | "waiting" | "due";

/** What is known of a reservation. */
export interface Candidate {
  /** `undefined` for a file that names no container, or is gone. */
  readonly seen: Omit<SeenDead, "since"> | undefined;
  readonly liveness: Liveness;
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
  readonly before: readonly SeenDead[];
}

/** A reservation that was judged. */
export interface Decided {
  readonly decision: Decision;
  /** To be remembered; `undefined` for what is not dead. */
  readonly seenDead: SeenDead | undefined;
}

const MILLISECOND = 1_000_000n;

/** Makes the judge of one run. */
export function decideBy({ asOf, grace, isImmediate, before }: Rules): (one: Candidate) => Decided {
  const earlier = new Map(before.map((seenDead) => [seenDeadKey(seenDead), seenDead.since]));
  return ({ seen, liveness }) => {
    if (seen === undefined) return { decision: "ownerless", seenDead: undefined };
    if (liveness !== "dead") return { decision: liveness, seenDead: undefined };
    const age = asOf - Number(seen.modified / MILLISECOND);
    // One from the future is young, too: its age is not known.
    if (age < 0 || age < grace) return { decision: "young", seenDead: undefined };
    const known = earlier.get(seenDeadKey(seen));
    // After the clock was set back, an earlier run may lie in the future: it counts from now on.
    const since = known === undefined ? asOf : Math.min(known, asOf);
    const isSeenTwice = known !== undefined && asOf - since >= grace && asOf > since;
    const decision = isImmediate || isSeenTwice ? "due" : "waiting";
    return { decision, seenDead: { ...seen, since } };
  };
}
