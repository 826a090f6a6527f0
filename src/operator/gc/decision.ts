/** Decides which reservations are released, without reading anything itself. */

import { isAhead } from "../../store/reservations/age.ts";
import type { Conclusion } from "../alive/conclusion.ts";
import type { KnownReservation } from "../alive/liveness.ts";

/**
 * The decision on a reservation. `alive`: its container is in the list, or alive by the node where there is no list or where it
 * is younger than the grace period, so that the list need not have it. `inUse`: older, and alive by the node though the list
 * lacks it. `unknown`: neither shows it. `unowned`: it names no container. `young`: not known to be alive, and younger than the
 * grace period. `waiting`: dead, and must be found dead again after the grace period.
 * `due`: to be released. Only those that are `due` are released.
 */
export type Decision = "alive" | "inUse" | "unknown" | "unowned" | "young" | "waiting" | "due";

/** What the decisions of a run are based on. */
export interface Rules {
  /** A list that is not `believed` still shows who is alive. */
  readonly list: "none" | "believed" | "doubted";
  /** The time of the liveness data, in milliseconds since the epoch. */
  readonly asOf: number;
  /** The time of the run, in milliseconds since the epoch. */
  readonly now: number;
  /** The grace period, in milliseconds. */
  readonly grace: number;
  /** Whether one run that finds a container dead is enough. */
  readonly isImmediate: boolean;
  /** What earlier runs found dead, and when first, by `seenId`. */
  readonly before: ReadonlyMap<string, number>;
}

/** The decision on a reservation, and what to record. */
export interface Decided {
  readonly decision: Decision;
  /** When it was first seen dead, in milliseconds since the epoch; `undefined` unless it is dead and old enough. */
  readonly deadSince: number | undefined;
  /** Whether only the list says that it is dead. */
  readonly isByList: boolean;
}

/** A reservation with the decision on it, and what else that is based on. */
export interface DecidedReservation extends KnownReservation, Decided {
  readonly seenId: string | undefined;
  /** The time of its file, in milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly isListed: boolean;
  /** Whether its id is one that the list could have. */
  readonly mayBeListed: boolean;
  /** Whether a container that is listed has the namespace in which its address is; asked of few. */
  readonly isBesideListed: () => boolean;
}

/** Makes the function that decides in one run. */
export function decideBy(
  rules: Rules,
): (
  one: Pick<DecidedReservation, "seenId" | "since" | "conclusion" | "isListed" | "mayBeListed">,
) => Decided {
  const { list, asOf, now, grace, isImmediate } = rules;
  return ({ seenId, since: written, conclusion, isListed, mayBeListed }) => {
    const decided = (decision: Decision): Decided => {
      return { decision, deadSince: undefined, isByList: false };
    };
    if (seenId === undefined || written === undefined) return decided("unowned");
    if (isListed) return decided("alive");
    const isAlive = conclusion.liveness === "alive";
    if (isAlive && list === "none") return decided("alive");
    // What was made since the list was lives, unless its date is of a clock that was wrong.
    const age = asOf - written;
    if ((age < 0 || age < grace) && !isAhead(written, now)) {
      // What lives does not contradict the list, which may be older.
      return decided(isAlive ? "alive" : "young");
    }
    const isByList = conclusion.liveness !== "dead";
    const isForList = mayBeDead(conclusion) && (mayBeListed || !isRecorded(conclusion));
    if (isByList && !(list === "believed" && isForList)) {
      return decided(isAlive ? "inUse" : "unknown");
    }
    const known = rules.before.get(seenId);
    // If the clock was set back, an earlier run may lie in the future; it then counts from now on.
    const since = known === undefined ? asOf : Math.min(known, asOf);
    const isSeenTwice = known !== undefined && asOf - since >= grace && asOf > since;
    const isDue = isSeenTwice || isImmediate;
    return { decision: isDue ? "due" : "waiting", deadSince: since, isByList };
  };
}

/**
 * Whether a list that lacks the container shows that it is dead: nothing of it is seen. What has a network namespace is kept,
 * whatever the list: a runtime may have lost a sandbox whose address still answers.
 */
export function mayBeDead(conclusion: Conclusion): boolean {
  return conclusion.liveness === "unknown" && conclusion.by !== "unread";
}

/** Whether a container is alive by a mount or a descriptor alone: no process runs in its network namespace. */
export function hasNoProcess(
  conclusion: Conclusion,
): conclusion is Extract<Conclusion, { readonly by: "mount" | "descriptor" }> {
  return (
    conclusion.liveness === "alive" && (conclusion.by === "mount" || conclusion.by === "descriptor")
  );
}

/**
 * Whether it is recorded that it was reserved for no pod: the address may be in use without a container, and a list decides
 * only on what a runtime runs.
 */
export function isRecorded(conclusion: Conclusion): boolean {
  return conclusion.liveness === "unknown" && conclusion.by === "record";
}

/**
 * Whether a decision contradicts the list: it lacks a container of which a process runs. Not that of a listed container,
 * which may have the same address in another network, or any that it likes.
 */
export function contradicts({
  decision,
  conclusion,
  isBesideListed,
}: Pick<DecidedReservation, "decision" | "conclusion" | "isBesideListed">): boolean {
  return (
    decision === "inUse" &&
    conclusion.liveness === "alive" &&
    conclusion.by === "process" &&
    !isBesideListed()
  );
}
