/** Decides which reservations are released, without reading anything itself. */

import type { ContainerState } from "./container-state.ts";
import { type SeenDead, seenDeadKey } from "./seen-dead.ts";

/**
 * The decision on a reservation. `alive`, `unknown`, `inUse`: its liveness. `unowned`: it names no container. `young`:
 * not known to be alive, and younger than the grace period. `waiting`: dead, and must be found dead again after the grace
 * period. `due`: to be released. Only those that are `due` are released.
 */
export type Decision =
  | Exclude<ContainerState["liveness"], "dead">
  | "unowned"
  | "young"
  | "waiting"
  | "due";

/** A reservation to decide on. */
export interface Candidate {
  /** `undefined` if the file names no container, or its time cannot be read. */
  readonly seen: Omit<SeenDead, "since"> | undefined;
  readonly liveness: ContainerState["liveness"];
}

/** What the decisions of a run are based on. */
export interface Rules {
  /** The time of the liveness data, in milliseconds since the epoch. */
  readonly asOf: number;
  /** The grace period, in milliseconds. */
  readonly grace: number;
  /** Whether one run that finds a container dead is enough. */
  readonly isImmediate: boolean;
  /** What earlier runs found dead. */
  readonly before: readonly SeenDead[];
}

/** The decision on a reservation, and what to record. */
export interface Decided {
  readonly decision: Decision;
  /** The record for later runs; `undefined` unless the reservation is dead and old enough. */
  readonly seenDead: SeenDead | undefined;
}

const MILLISECOND = 1_000_000n;

/** Makes the function that decides in one run. */
export function decideBy({
  asOf,
  grace,
  isImmediate,
  before,
}: Rules): (candidate: Candidate) => Decided {
  const earlier = new Map(before.map((seenDead) => [seenDeadKey(seenDead), seenDead.since]));
  return ({ seen, liveness }) => {
    if (seen === undefined) return { decision: "unowned", seenDead: undefined };
    if (liveness === "alive") return { decision: "alive", seenDead: undefined };
    const age = asOf - Number(seen.modified / MILLISECOND);
    // A modification time in the future counts as young, too: the age is unknown.
    if (age < 0 || age < grace) return { decision: "young", seenDead: undefined };
    if (liveness !== "dead") return { decision: liveness, seenDead: undefined };
    const known = earlier.get(seenDeadKey(seen));
    // If the clock was set back, an earlier run may lie in the future; it then counts from now on.
    const since = known === undefined ? asOf : Math.min(known, asOf);
    const isSeenTwice = known !== undefined && asOf - since >= grace && asOf > since;
    const decision = isImmediate || isSeenTwice ? "due" : "waiting";
    return { decision, seenDead: { ...seen, since } };
  };
}
