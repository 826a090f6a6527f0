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

/** Judges one reservation. */
export type Judge = (reservation: NodeReservation) => Judgement;

const ownerless: Judgement = {
  liveness: "unknown",
  reason: "it names no container",
  missing: undefined,
  isGone: false,
};

/**
 * Judges the reservations of a network. What shows that a container is alive counts for all that it holds: its namespace
 * may have an address of one family only.
 */
export function judgeAll(
  reservations: readonly NodeReservation[],
  judge: Judge,
): readonly { readonly reservation: NodeReservation; readonly judgement: Judgement }[] {
  const living = new Map<string, Judgement>();
  const judged = reservations.map((reservation) => {
    const container = containerOf(reservation.owner);
    const judgement = container === "" ? ownerless : judge(reservation);
    if (judgement.liveness === "alive" || judgement.liveness === "inUse") {
      living.set(container, judgement);
    }
    return { reservation, judgement };
  });
  return judged.map(({ reservation, judgement }) => ({
    reservation,
    judgement: living.get(containerOf(reservation.owner)) ?? judgement,
  }));
}

/** Judges by network namespaces alone. */
export function judgeByNamespaces(checker: LivenessChecker): Judge {
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
export function judgeByList(list: LiveList, checkerOf: (() => LivenessChecker) | undefined): Judge {
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
