/** Which reservations hold an address for nobody, by who is alive. */

import { hasNoProcess, mayHaveLeaked } from "../../store/life/conclusion.ts";
import { isYoung } from "../../store/reservations/age.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { NodeReservation } from "../held/network-directory.ts";
import type { KnownReservation } from "./lives.ts";

/**
 * A younger reservation is no leak, in milliseconds: the runtime may be about to release it. After a restart of the node,
 * kubelet removes all pods from before within minutes.
 */
const GRACE = 10 * 60_000;

/** The reservations of a network that are old enough to be judged. */
export interface Leaks {
  /** How many are old enough. */
  readonly judged: number;
  /** The reservations that may have leaked; what ADD takes by itself after a reboot is no leak. */
  readonly leaked: readonly KnownReservation[];
  readonly unknown: readonly KnownReservation[];
  /**
   * When they can be judged, in milliseconds since the epoch, if the node has just started: until then none is old, and all are
   * counted.
   */
  readonly judgedFrom: number | undefined;
}

/** @param uptime of the node, in milliseconds; `undefined` where that is not known */
export function leaksAmong(
  known: readonly KnownReservation[],
  now: number,
  uptime: number | undefined,
): Leaks {
  const judgedFrom = uptime === undefined || uptime >= GRACE ? undefined : now - uptime + GRACE;
  const old = known.filter(
    ({ reservation }) =>
      containerOf(reservation.owner) !== "" &&
      (judgedFrom !== undefined || isOld(reservation, now)),
  );
  const counted = old.filter(({ conclusion: { by } }) => by !== "boot");
  return {
    judged: old.length,
    leaked: counted.filter(({ conclusion }) => mayHaveLeaked(conclusion)),
    unknown: counted.filter(({ conclusion }) => conclusion.liveness === "unknown"),
    judgedFrom,
  };
}

function isOld({ since }: NodeReservation, now: number): boolean {
  return since !== undefined && !isYoung(since, now, GRACE);
}

/** How many containers run no process, for longer than a runtime takes to start one or to end it. */
export function countWithoutProcess(known: readonly KnownReservation[], now: number): number {
  return known.filter(
    ({ reservation, conclusion }) => isOld(reservation, now) && hasNoProcess(conclusion),
  ).length;
}
