/** Releasing addresses. */

import { CniError, ErrorCode } from "../cni/error.ts";
import { recover } from "../system/system.ts";
import type { PossiblyLockedNetwork } from "./locked-network.ts";
import type { NamedReservation } from "./reservations/reservation-file.ts";

/** How many files that cannot be read are named. */
const MOST_REASONS = 10;

/**
 * Removes reservations; an error is reported only after all others were removed.
 *
 * @throws CniError 5 with the path and reason of each failure
 */
export function releaseAll(
  network: PossiblyLockedNetwork,
  reservations: readonly NamedReservation[],
): void {
  const failures: string[] = [];
  for (const reservation of reservations) {
    recover(
      () => network.release(reservation),
      ({ message }) => failures.push(message),
    );
  }
  if (failures.length > 0) {
    throw new CniError(
      ErrorCode.ioFailure,
      `failed to release ${failures.length} of ${reservations.length} addresses`,
      failures.join("; "),
    );
  }
}

/**
 * Runs a release; a failed system call becomes an I/O error (code 5), so that the runtime tries again.
 *
 * @throws CniError 5
 */
export function reportingIoFailure(release: () => void): void {
  recover(release, ({ message }) => {
    throw new CniError(ErrorCode.ioFailure, message);
  });
}

/**
 * Checks that nothing was left out because it could not be read.
 *
 * @param reasons why files could not be read
 * @param whose such as `the reservations`
 * @throws CniError 5 with the first few reasons
 */
export function requireRead(reasons: readonly string[], whose: string): void {
  if (reasons.length === 0) return;
  throw new CniError(
    ErrorCode.ioFailure,
    `cannot read ${reasons.length} of ${whose}`,
    shortened(reasons).join("; "),
  );
}

/** The first few of many reasons. */
export function shortened(reasons: readonly string[]): readonly string[] {
  const more = reasons.length - MOST_REASONS;
  return more > 0 ? [...reasons.slice(0, MOST_REASONS), `${more} more`] : reasons;
}
