/** Giving addresses back. */

import { CniError, ErrorCode } from "../cni/error.ts";
import { isSystemError, type System } from "../system/system.ts";
import type { Location } from "./location.ts";
import { type Reservation, removeReservation } from "./reservations.ts";

/**
 * Removes reservations, all that can be, and only then reports those that could not.
 *
 * @throws CniError 5 with every path and reason
 */
export function releaseAll(
  system: System,
  location: Location,
  reservations: readonly Reservation[],
): void {
  const failures: string[] = [];
  for (const { name } of reservations) {
    try {
      removeReservation(system, location, name);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      failures.push(error.message);
    }
  }
  if (failures.length > 0) {
    throw new CniError(
      ErrorCode.ioFailure,
      `failed to release ${failures.length} of ${reservations.length} addresses`,
      failures.join("; "),
    );
  }
}
