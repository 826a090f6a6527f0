/** Decides which reservations are released, without reading anything itself. */

import { isRecorded, mayBeDead } from "../../store/life/conclusion.ts";
import { isAhead } from "../../store/reservations/age.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { seenId } from "./collection-file.ts";
import type { LiveSource } from "./live-source.ts";

/**
 * The decision on a reservation. `alive`: its container is in the list, or alive by the node. `unknown`: neither shows it.
 * `unowned`: it names no container. `young`: younger than the grace period, and not in the list or, where there is none, not
 * known to be alive. `waiting`: dead, and must be found dead again after the grace period. `due`: to be released. Only what is
 * `due` is `released`; what could not be stays `due`.
 */
export type Decision = "alive" | "unknown" | "unowned" | "young" | "waiting" | "due" | "released";

/** What the decisions of a run are based on. */
export interface Rules extends LiveSource {
  /** The time of the run, in milliseconds since the epoch. */
  readonly now: number;
  /** The grace period, in milliseconds. */
  readonly grace: number;
  /** Whether one run that finds a container dead is enough. */
  readonly isImmediate: boolean;
  /** What earlier runs found dead, and when first, by `seenId`. */
  readonly before: ReadonlyMap<string, number>;
}

/** A reservation with the decision on it. */
export interface DecidedReservation extends KnownReservation {
  readonly decision: Decision;
  /** When it was first seen dead, in milliseconds since the epoch; `undefined` unless it is dead and old enough. */
  readonly deadSince: number | undefined;
}

/** Makes the function that decides in one run. */
export function decideBy(rules: Rules): (known: KnownReservation) => DecidedReservation {
  const { list, asOf, now, grace, isImmediate } = rules;
  return (known) => {
    const { reservation, conclusion } = known;
    const decided = (decision: Decision, deadSince?: number): DecidedReservation => {
      return { ...known, decision, deadSince };
    };
    const id = seenId(reservation);
    const { since: written } = reservation;
    if (id === undefined || written === undefined) return decided("unowned");
    const container = containerOf(reservation.owner);
    const isAlive = conclusion.liveness === "alive";
    if (list?.has(container) ?? isAlive) return decided("alive");
    // A reservation that was made after the list is alive, unless its date is of a clock that was wrong.
    const age = asOf - written;
    if (age < grace && !isAhead(written, now)) return decided("young");
    if (isAlive) return decided("alive");
    const mayBeListed = !isRecorded(conclusion) || list?.mayHave(container) === true;
    const isLacked = list !== undefined && mayBeDead(conclusion) && mayBeListed;
    if (conclusion.liveness !== "dead" && !isLacked) return decided("unknown");
    const first = rules.before.get(id);
    // If the clock was set back, an earlier run may lie in the future; it then counts from now on.
    const since = first === undefined ? asOf : Math.min(first, asOf);
    const isSeenTwice = first !== undefined && asOf - since >= grace && asOf > since;
    return decided(isSeenTwice || isImmediate ? "due" : "waiting", since);
  };
}

/** Whether only the list says that a container is dead. */
export function isDeadByList({ deadSince, conclusion }: DecidedReservation): boolean {
  return deadSince !== undefined && conclusion.liveness !== "dead";
}

/** The decision where the list is in doubt: it still shows who is alive, and nothing is dead by it. */
export function withoutList(decided: DecidedReservation): DecidedReservation {
  return isDeadByList(decided)
    ? { ...decided, decision: "unknown", deadSince: undefined }
    : decided;
}
