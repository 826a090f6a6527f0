/** Releasing reservations that were judged a moment ago, without the lock. */

import { isSystemError, type System } from "../system/system.ts";
import type { Ledger } from "./ledger.ts";
import { join, type Location } from "./location.ts";
import { ownerText } from "./owner.ts";
import { releaseAll } from "./release.ts";
import type { OwnedReservation } from "./reservations.ts";
import { type Sighting, sightingKey } from "./sightings.ts";

/**
 * Releases those reservations that are still what they were when they were seen; each file is looked at again.
 *
 * @returns the names of those that were released
 * @throws CniError 5 with every path and reason, after all that could be released are
 */
export function releaseSeen(
  ledger: Ledger,
  seen: readonly Omit<Sighting, "since">[],
): readonly string[] {
  const { system, location } = ledger;
  const wanted = new Set(seen.map(sightingKey));
  const names = new Set(seen.map(({ name }) => name));
  const isWanted = ({ name, owner }: OwnedReservation): boolean => {
    const text = names.has(name) ? ownerText(owner) : undefined;
    const modified = text === undefined ? undefined : modifiedOf(system, location, name);
    if (text === undefined || modified === undefined) return false;
    return wanted.has(sightingKey({ name, owner: text, modified }));
  };
  const all = ledger.allOwned();
  const released = all.filter(isWanted);
  releaseAll(ledger, all, released);
  return released.map(({ name }) => name);
}

/** When a reservation's file was written, in nanoseconds since the epoch; `undefined` where it is gone. */
export function modifiedOf(system: System, location: Location, name: string): bigint | undefined {
  try {
    return system.linkStatus(join(location.directory, name)).modified;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
