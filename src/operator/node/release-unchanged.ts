/** Releasing reservations that were chosen without the lock, if they are unchanged. */

import type { LockedNetwork } from "../../store/locked-network.ts";
import { releaseAll } from "../../store/release.ts";
import { isSameOwner } from "../../store/reservations/owner.ts";
import type { NodeReservation } from "./network-directory.ts";

/**
 * Releases those reservations whose files are the ones that were read, with the same owner. No other file is opened while
 * the lock is held, where the journal is current.
 *
 * @param reservations of the network that is locked
 * @returns the released reservations
 * @throws CniError 5 as `releaseAll`
 * @throws SystemError where the directory cannot be read
 */
export function releaseUnchanged(
  network: LockedNetwork,
  reservations: readonly NodeReservation[],
): readonly NodeReservation[] {
  network.bringUpToDate();
  const unchanged = reservations.filter(isUnchanged);
  releaseAll(network, unchanged);
  return unchanged;
}

/** Whether a reservation's file is the one that was read, and was not written since. */
function isUnchanged({ owner, status, network, address, name }: NodeReservation): boolean {
  const now = network.read({ address, name });
  return (
    now?.status !== undefined &&
    isSameOwner(now.owner, owner) &&
    now.status.inode === status?.inode &&
    now.status.modified === status.modified
  );
}
