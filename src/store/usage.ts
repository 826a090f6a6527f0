/** How full the ranges are, and which reservations are debris. */

import { formatWindow, isSame, isWithin } from "../ipam/address.ts";
import { type Exclusions, isExcluded } from "../ipam/exclusions.ts";
import type { Range } from "../ipam/range.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import { capacityOf } from "../ipam/round-robin.ts";
import { isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";
import { type Reservation, readOwner } from "./reservations.ts";

/** How many addresses of a range can be handed out, and how many are. */
export interface RangeUsage {
  readonly range: Range;
  readonly capacity: bigint;
  readonly used: bigint;
}

/**
 * A nameless file younger than this, in milliseconds, may be one that the reference is about to fill: it creates, then
 * writes, and the portable executable does not share its lock.
 */
const SETTLED_AFTER = 10_000;

/** Counts a set's reservations by their names alone; no file is read. */
export function usageOf(
  set: RangeSet,
  exclusions: Exclusions,
  reservations: readonly Reservation[],
): readonly RangeUsage[] {
  return set.map((range) => ({
    range,
    capacity: capacityOf(range, exclusions),
    used: BigInt(
      reservations.filter(
        ({ address }) =>
          isWithin(address, range) &&
          !isSame(address, range.gateway) &&
          !isExcluded(address, exclusions),
      ).length,
    ),
  }));
}

export function isExhausted(usage: readonly RangeUsage[]): boolean {
  return usage.every(({ used, capacity }) => used >= capacity);
}

/** One line for a reader of an error: counts per range and where to look next. */
export function describeUsage(usage: readonly RangeUsage[], location: Location): string {
  const counts = usage.map(
    ({ range, used, capacity }) =>
      `${formatWindow(range)}: ${used} of ${capacity} addresses in use`,
  );
  return `${counts.join("; ")}. Each file in ${location.directory} is an address and names its container: compare with the containers that are alive`;
}

/**
 * The reservations of a set that are nobody's: readable, settled files that no release can ever match. They may be
 * removed under the lock. A file that cannot be read is not among them, for it may be somebody's.
 */
export function debrisIn(
  system: System,
  location: Location,
  set: RangeSet,
  reservations: readonly Reservation[],
): readonly Reservation[] {
  return reservations.filter(
    (reservation) =>
      set.some((range) => isWithin(reservation.address, range)) &&
      readOwner(system, location, reservation.name).kind === "nobody" &&
      isSettledFile(system, join(location.directory, reservation.name)),
  );
}

function isSettledFile(system: System, path: string): boolean {
  try {
    const { kind, modified } = system.status(path);
    return kind === "file" && modified < BigInt(system.now() - SETTLED_AFTER) * 1_000_000n;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
