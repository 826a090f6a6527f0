/** Whether containers are alive, by the list and by the network namespaces. */

import type { LivenessChecker, LivenessResult } from "../node/liveness.ts";
import { containerOf, type NodeReservation } from "../node/node-reservations.ts";
import type { LiveList } from "./live-list.ts";

/**
 * Whether a container is alive, and how that is known. `inUse`: the list does not contain it, but its network namespace
 * exists.
 */
export interface Judgement {
  readonly liveness: LivenessResult["liveness"] | "inUse";
  readonly reason: string;
  /** What is missing to decide, if it is `unknown`. */
  readonly missing:
    | Extract<LivenessResult, { readonly liveness: "unknown" }>["missing"]
    | undefined;
  /** Whether its network namespace is known to be gone, so that a wrong list cannot be the reason. */
  readonly isGone: boolean;
}

/** Judges by network namespaces alone. */
export function judgeByNamespaces(
  checker: LivenessChecker,
): (reservation: NodeReservation) => Judgement {
  return (reservation) => {
    const result = checker.livenessOf(reservation);
    return {
      liveness: result.liveness,
      reason: result.reason,
      missing: result.liveness === "unknown" ? result.missing : undefined,
      isGone: result.liveness === "dead",
    };
  };
}

/**
 * Judges by a list. What it does not contain is dead, unless its network namespace exists.
 *
 * @param checkerOf makes the checker, at the first reservation that is not in the list; `undefined` to believe the list
 */
export function judgeByList(
  list: LiveList,
  checkerOf: (() => LivenessChecker) | undefined,
): (reservation: NodeReservation) => Judgement {
  let checker: LivenessChecker | undefined;
  return (reservation) => {
    const byList = { missing: undefined, isGone: false };
    if (list.has(containerOf(reservation.owner))) {
      return { ...byList, liveness: "alive", reason: "it is in the list" };
    }
    checker ??= checkerOf?.();
    const result = checker?.livenessOf(reservation);
    if (result?.liveness === "alive")
      return { ...byList, liveness: "inUse", reason: result.reason };
    const isGone = result?.liveness === "dead";
    return { ...byList, liveness: "dead", reason: "it is not in the list", isGone };
  };
}
