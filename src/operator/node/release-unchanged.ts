/** Releasing reservations that were chosen without the lock, if they are unchanged. */

import { type Identity, identityOf } from "../../store/files/fingerprint.ts";
import { join, type Location } from "../../store/files/paths.ts";
import type { Store } from "../../store/locked-network.ts";
import { releaseWhere } from "../../store/release.ts";
import { isSameOwner } from "../../store/reservations/owner.ts";
import { type OwnedReservation, readOwner } from "../../store/reservations/reservation-file.ts";
import { type FileStatus, isSystemError, type System } from "../../system/system.ts";

/** A reservation and the identity of its file, to detect later changes. */
export interface Snapshot {
  readonly reservation: OwnedReservation;
  readonly identity: Identity;
}

/**
 * Reads the state of a reservation, so that any later change can be detected.
 *
 * @returns `undefined` where it is gone or has another owner
 */
export function snapshotOf(
  system: System,
  location: Location,
  reservation: OwnedReservation,
): Snapshot | undefined {
  const status = statusOf(system, location, reservation.name);
  if (status === undefined) return undefined;
  const owner = readOwner(system, location, reservation.name);
  return isSameOwner(owner, reservation.owner)
    ? { reservation, identity: identityOf(status) }
    : undefined;
}

/**
 * Releases those reservations that are unchanged since their snapshots.
 *
 * @returns the names of the released reservations
 * @throws CniError 5 as `releaseAll`
 */
export function releaseUnchanged(store: Store, snapshots: readonly Snapshot[]): readonly string[] {
  const { system, location } = store;
  const before = new Map(snapshots.map((one) => [one.reservation.name, one]));
  return releaseWhere(store, ({ name, owner }) => {
    const snapshot = before.get(name);
    if (snapshot === undefined || !isSameOwner(owner, snapshot.reservation.owner)) return false;
    const status = statusOf(system, location, name);
    return status !== undefined && identityOf(status) === snapshot.identity;
  });
}

/** When a reservation's file was written, in nanoseconds since the epoch; `undefined` where it is gone. */
export function modifiedOf(system: System, location: Location, name: string): bigint | undefined {
  return statusOf(system, location, name)?.modified;
}

function statusOf(system: System, location: Location, name: string): FileStatus | undefined {
  try {
    return system.linkStatus(join(location.directory, name));
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
