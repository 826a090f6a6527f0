/** When an ADD was last seen in a network, and whether the runtime calls this plugin there. */

import type { IsRecorded } from "../facts/recorded.ts";
import type { NodeReservation } from "../held/network-directory.ts";
import { type AddTraces, lastAddOf, newestOf } from "./calls.ts";

/** The last ADD of a network. */
export interface LastAdd {
  /** When it reserved an address, in milliseconds since the epoch. */
  readonly time: number;
  /** Whether a call of this plugin is on record for it; `undefined` where that cannot be told. */
  readonly isRecorded: boolean | undefined;
}

/** A call writes its line at its end: of a younger reservation, in milliseconds, it may still be under way. */
const UNDER_WAY = 10_000;

/** The dates of one ADD's cursor and reservation are no further apart, in milliseconds. */
const ONE_CALL = 1000;

/** What is seen of ADDs of a network. */
interface SeenAdds extends AddTraces {
  readonly reservations: readonly NodeReservation[];
}

/**
 * @param isRecorded `undefined` where that cannot be told
 * @returns `undefined` where no ADD is seen
 */
export function lastAddSeen(
  traces: SeenAdds,
  isRecorded: IsRecorded | undefined,
  now: number,
): LastAdd | undefined {
  const time = lastAddOf(traces, now);
  if (time === undefined) return undefined;
  const newest = newestOf(traces.reservations, now);
  const since = newest?.since ?? 0;
  // The last one may have been released.
  if (newest === undefined || time - since > ONE_CALL) return { time, isRecorded: undefined };
  const recorded = isRecorded?.(newest);
  const isUnderWay = recorded === false && since > now - UNDER_WAY;
  return { time, isRecorded: isUnderWay ? undefined : recorded };
}

/**
 * The reservations that were made after this plugin was installed, where no call of it is on record for any of them.
 *
 * @param installed when that was, in milliseconds since the epoch
 */
export function unrecordedSince(
  installed: number,
  reservations: readonly NodeReservation[],
  isRecorded: IsRecorded,
  now: number,
): readonly NodeReservation[] {
  const later = reservations.filter(({ since }) => Number(since) > installed);
  const isOther = (reservation: NodeReservation): boolean =>
    Number(reservation.since) <= now - UNDER_WAY && !isRecorded(reservation);
  return later.every(isOther) ? later : [];
}
