/** Releasing reservations that were chosen without the lock, if they are unchanged. */

import { type Fingerprint, fingerprintOf } from "../../store/files/fingerprint.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import type { LockedNetwork } from "../../store/locked-network.ts";
import { releaseWhere } from "../../store/release.ts";
import { isSameOwner } from "../../store/reservations/owner.ts";
import { type OwnedReservation, readOwner } from "../../store/reservations/reservation-file.ts";
import { attempt, type FileStatus } from "../../system/system.ts";

/** A reservation and the identity of its file, to detect later changes. */
export interface Snapshot {
  readonly reservation: OwnedReservation;
  readonly identity: Fingerprint;
}

/**
 * Reads the state of a reservation, so that any later change can be detected.
 *
 * @returns `undefined` where it is gone or has another owner
 */
export function snapshotOf(
  files: NetworkFiles,
  reservation: OwnedReservation,
): Snapshot | undefined {
  const status = statusOf(files, reservation.name);
  if (status === undefined) return undefined;
  const owner = readOwner(files, reservation.name);
  return isSameOwner(owner, reservation.owner)
    ? { reservation, identity: fingerprintOf(status) }
    : undefined;
}

/**
 * Releases those reservations that are unchanged since their snapshots.
 *
 * @returns the names of the released reservations
 * @throws CniError 5 as `releaseAll`
 */
export function releaseUnchanged(
  network: LockedNetwork,
  snapshots: readonly Snapshot[],
): readonly string[] {
  const before = new Map(snapshots.map((one) => [one.reservation.name, one]));
  return releaseWhere(network, ({ name, owner }) => {
    const snapshot = before.get(name);
    if (snapshot === undefined || !isSameOwner(owner, snapshot.reservation.owner)) return false;
    const status = statusOf(network.files, name);
    return status !== undefined && fingerprintOf(status) === snapshot.identity;
  });
}

/** When a reservation's file was written, in nanoseconds since the epoch; `undefined` where it is gone. */
export function modifiedOf(files: NetworkFiles, name: string): bigint | undefined {
  return statusOf(files, name)?.modified;
}

function statusOf(files: NetworkFiles, name: string): FileStatus | undefined {
  return attempt(() => files.system.linkStatus(files.pathOf(name)), undefined);
}
