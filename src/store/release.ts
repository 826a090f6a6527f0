/** Giving addresses back. */

import { CniError, ErrorCode } from "../cni/error.ts";
import { isSystemError, type System } from "../system/system.ts";
import type { Ledger } from "./ledger.ts";
import { join, type Location } from "./location.ts";
import { isSameOwner } from "./owner.ts";
import { type EntryName, entryOf } from "./owner-index.ts";
import { type OwnedReservation, readOwner } from "./reservations.ts";
import { type Identity, identityOf } from "./stamp.ts";

/**
 * Removes reservations, all that can be, and only then reports those that could not.
 *
 * @param all every reservation of the owners in question
 * @param released those of them to be removed
 * @throws CniError 5 with every path and reason
 */
export function releaseAll(
  ledger: Ledger,
  all: readonly OwnedReservation[],
  released: readonly OwnedReservation[],
): void {
  const kept = new Set(all);
  const failures: string[] = [];
  for (const reservation of released) {
    try {
      ledger.release(reservation);
      kept.delete(reservation);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      failures.push(error.message);
    }
  }
  noteKept(ledger, kept, released);
  if (failures.length > 0) {
    throw new CniError(
      ErrorCode.ioFailure,
      `failed to release ${failures.length} of ${released.length} addresses`,
      failures.join("; "),
    );
  }
}

/** A reservation as it was looked at before the lock was taken. */
export interface Sighting {
  readonly reservation: OwnedReservation;
  readonly identity: Identity;
}

/**
 * Looks at a reservation so closely that a later change shows.
 *
 * @returns `undefined` where it is another's by now, or gone
 */
export function sight(
  system: System,
  location: Location,
  reservation: OwnedReservation,
): Sighting | undefined {
  const identity = identityAt(system, location, reservation.name);
  if (identity === undefined) return undefined;
  const owner = readOwner(system, location, reservation.name);
  return isSameOwner(owner, reservation.owner) ? { reservation, identity } : undefined;
}

/**
 * Removes those reservations that are still what they were, and leaves the others alone. Must run under the lock.
 *
 * @returns the names of those that were removed
 * @throws CniError 5 as `releaseAll`
 */
export function releaseSighted(ledger: Ledger, sightings: readonly Sighting[]): readonly string[] {
  const { system, location } = ledger;
  const all = ledger.allOwned();
  const released = all.filter(({ name, owner }) =>
    sightings.some(
      ({ reservation, identity }) =>
        reservation.name === name &&
        isSameOwner(owner, reservation.owner) &&
        identityAt(system, location, name) === identity,
    ),
  );
  releaseAll(ledger, all, released);
  return released.map(({ name }) => name);
}

function identityAt(system: System, location: Location, name: string): Identity | undefined {
  try {
    return identityOf(system.linkStatus(join(location.directory, name)));
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Tells the index what the owners of the released reservations still hold. */
function noteKept(
  ledger: Ledger,
  kept: ReadonlySet<OwnedReservation>,
  released: readonly OwnedReservation[],
): void {
  const names = new Map<EntryName, string[]>();
  for (const { owner } of released) {
    const entry = entryOf(owner);
    if (entry !== undefined) names.set(entry, []);
  }
  for (const { name, owner } of kept) {
    const entry = entryOf(owner);
    if (entry !== undefined) names.get(entry)?.push(name);
  }
  for (const [entry, held] of names) ledger.note(entry, held);
}

/**
 * Does a release; what the disk refuses is told as such, so that the runtime tries again.
 *
 * @throws CniError 5
 */
export function reportingIoFailure(release: () => void): void {
  try {
    release();
  } catch (error) {
    throw isSystemError(error) ? new CniError(ErrorCode.ioFailure, error.message) : error;
  }
}
