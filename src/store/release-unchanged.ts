/** Releasing reservations that were looked at before, without the lock. */

import { type FileStatus, isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";
import { isSameOwner, ownerText } from "./owner.ts";
import { releaseWhere } from "./release.ts";
import { type OwnedReservation, readOwner } from "./reservations.ts";
import { type SeenDead, seenDeadKey } from "./seen-dead.ts";
import { type Identity, identityOf } from "./stamp.ts";
import type { Store } from "./store.ts";

/**
 * Releases those reservations that are still what they were when they were seen; each file is looked at again.
 *
 * @returns the names of those that were released
 * @throws CniError 5 with every path and reason, after all that could be released are
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

/** A reservation as it was a moment ago, in every respect that `stat(2)` tells. */
export interface Snapshot {
  readonly reservation: OwnedReservation;
  readonly identity: Identity;
}

/**
 * Looks at a reservation so closely that any later change shows.
 *
 * @returns `undefined` where it is another's by now, or gone
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
 * Releases those reservations that did not change in any respect.
 *
 * @returns the names of those that were released
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
