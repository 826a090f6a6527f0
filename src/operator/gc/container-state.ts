/** Whether containers are alive, by the list and by the network namespaces. */

import type { LivenessChecker, LivenessResult } from "../node/liveness.ts";
import type { NodeReservation } from "../node/network-directory.ts";
import { containerOf } from "../node/node-reservations.ts";
import type { LiveList } from "./live-list.ts";

/**
 * Whether a container is alive, and how that is known. `inUse`: the list does not contain it, but its network namespace
 * exists.
 */
export interface ContainerState {
  readonly liveness: LivenessResult["liveness"] | "inUse";
  readonly reason: string;
  /** What is missing to decide, if it is `unknown`. */
  readonly missing:
    | Extract<LivenessResult, { readonly liveness: "unknown" }>["missing"]
    | undefined;
  /** Whether its network namespace is known to be gone, so that a wrong list cannot be the reason. */
  readonly isGone: boolean;
}

/** Returns the state of a reservation's container. */
export type StateOf = (reservation: NodeReservation) => ContainerState;

const unowned: ContainerState = {
  liveness: "unknown",
  reason: "it names no container",
  missing: undefined,
  isGone: false,
};

/**
 * The states of the containers of a network's reservations. What shows that a container is alive counts for all that it
 * holds: its namespace may have an address of one family only.
 */
export function statesOf(
  reservations: readonly NodeReservation[],
  stateOf: StateOf,
): readonly { readonly reservation: NodeReservation; readonly containerState: ContainerState }[] {
  const alive = new Map<string, ContainerState>();
  const states = reservations.map((reservation) => {
    const container = containerOf(reservation.owner);
    const containerState = container === "" ? unowned : stateOf(reservation);
    if (containerState.liveness === "alive" || containerState.liveness === "inUse") {
      alive.set(container, containerState);
    }
    return { reservation, containerState };
  });
  return states.map(({ reservation, containerState }) => ({
    reservation,
    containerState: alive.get(containerOf(reservation.owner)) ?? containerState,
  }));
}

/** By network namespaces alone. */
export function stateByNamespaces(checker: LivenessChecker): StateOf {
  return (reservation) => stateBy(checker.livenessOf(reservation));
}

function stateBy(result: LivenessResult): ContainerState {
  return {
    liveness: result.liveness,
    reason: result.reason,
    missing: result.liveness === "unknown" ? result.missing : undefined,
    isGone: result.liveness === "dead",
  };
}

/**
 * By a list. What it does not contain is dead, unless its network namespace exists, or what would show that cannot be read.
 *
 * @param checker `undefined` to trust the list
 */
export function stateByList(list: LiveList, checker: LivenessChecker | undefined): StateOf {
  return (reservation) => {
    const byList = { missing: undefined, isGone: false };
    if (list.has(containerOf(reservation.owner))) {
      return { ...byList, liveness: "alive", reason: "it is in the list" };
    }
    const result = checker?.livenessOf(reservation);
    if (result?.liveness === "alive")
      return { ...byList, liveness: "inUse", reason: result.reason };
    if (result?.liveness === "unknown" && result.missing === "cache") return stateBy(result);
    const isGone = result?.liveness === "dead";
    return { ...byList, liveness: "dead", reason: "it is not in the list", isGone };
  };
}
