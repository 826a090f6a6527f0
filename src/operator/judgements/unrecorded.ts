/** Whether the runtime calls another plugin of this name in a network. */

import type { IsRecorded } from "../facts/recorded.ts";
import type { NodeReservation } from "../held/network-directory.ts";

/** A call writes its line at its end: of a younger reservation, in milliseconds, it may still be under way. */
const UNDER_WAY = 10_000;

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
