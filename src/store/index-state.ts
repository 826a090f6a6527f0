/** Whether the owner index can be relied on; looked at without the lock, and without changing anything. */

import { exists, type System } from "../system/system.ts";
import type { Location } from "./location.ts";
import { entryOf, readEntry, readListings } from "./owner-index.ts";
import { listReservations, type OwnedReservation, readOwners } from "./reservations.ts";
import { isCurrent, readStamp } from "./stamp.ts";

/**
 * The state of the index. `absent`: there is none. `stale`: somebody else wrote since, and the next call rebuilds it.
 * `wrong`: it looks current, but does not list these reservations for their owners.
 */
export type IndexState =
  | { readonly kind: "absent" | "current" | "stale" }
  | { readonly kind: "wrong"; readonly missing: readonly OwnedReservation[] };

/** Compares the index with the reservations. */
export function indexState(system: System, location: Location): IndexState {
  const stamp = readStamp(system, location);
  if (!exists(system, location.owners)) return { kind: "absent" };
  if (stamp === undefined || !isCurrent(system, location, stamp)) return { kind: "stale" };
  const listings = readListings(system, location);
  const missing = readOwners(system, location, listReservations(system, location)).filter(
    ({ name, owner }) => {
      const entry = entryOf(owner);
      if (entry === undefined || listings.get(name)?.includes(entry) === true) return false;
      // An owner with too long a name or list has no entry, and is searched for.
      return readEntry(system, location, entry).kind !== "unlisted";
    },
  );
  // Whatever was changed meanwhile proves nothing.
  const after = readStamp(system, location);
  if (after === undefined || after.state !== stamp.state || !isCurrent(system, location, after)) {
    return { kind: "stale" };
  }
  return missing.length === 0 ? { kind: "current" } : { kind: "wrong", missing };
}
