/** Releasing reservations that were chosen without the lock, if they are unchanged. */

import { type FileStatus, isSystemError, type System } from "../system/system.ts";
import { type Identity, identityOf } from "./identity.ts";
import { join, type Location } from "./location.ts";
import { isSameOwner, ownerText } from "./owner.ts";
import { releaseWhere } from "./release.ts";
import { type OwnedReservation, readOwner } from "./reservations.ts";
import { type SeenDead, seenDeadKey } from "./seen-dead.ts";
import type { Store } from "./store.ts";

/**
 * Releases those reservations that are unchanged since they were seen dead; each file is checked again.
 *
 * @returns the names of the released reservations
 * @throws CniError 5 with the path and reason of each failure, after the others were released
 */
export function releaseSeenDead(
  store: Store,
  seen: readonly Omit<SeenDead, "since">[],
): readonly string[] {
  const { system, location } = store;
  const wanted = new Set(seen.map(seenDeadKey));
  const names = new Set(seen.map(({ name }) => name));
  return releaseWhere(store, ({ name, owner }) => {
    const text = names.has(name) ? ownerText(owner) : undefined;
    const modified = text === undefined ? undefined : modifiedOf(system, location, name);
    if (text === undefined || modified === undefined) return false;
    return wanted.has(seenDeadKey({ name, owner: text, modified }));
  });
}

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
 * @throws CniError 5 as `releaseSeenDead`
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
