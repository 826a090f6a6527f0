/** Keeping an address for a pod that need not be there, or for nobody. Must run under the lock. */

import { type Address, formatAddress } from "../../ipam/address.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { removeJournal } from "../../store/journal/journal-file.ts";
import type { LockedNetwork } from "../../store/locked-network.ts";
import { changeKept, type Kept, replaceByKept } from "../../store/reservations/kept.ts";
import { formatKept, type Owner, type PodName } from "../../store/reservations/owner.ts";
import {
  linkReservation,
  readOwner,
  removeReservation,
} from "../../store/reservations/reservation-file.ts";
import { isReclaimable } from "../../store/reservations/usage.ts";
import { exists } from "../../system/system.ts";

/**
 * Keeps an address from now on; one that somebody has, from its release on.
 *
 * @param pod for whom; `undefined` for nobody
 * @returns its owner now
 * @throws SystemError
 */
export function keep(network: LockedNetwork, address: Address, pod: PodName | undefined): Owner {
  const { files } = network;
  const name = formatAddress(address);
  const kept = { address, name, pod };
  change(network, name, [kept]);
  const owner = ownerAt(files, name);
  if (owner?.kind === "kept") {
    replaceByKept(files, kept);
    return { kind: "kept", pod };
  }
  // An empty file has no release.
  const isReclaimed = isReclaimable(files.system, files.pathOf(name)) && network.reclaim(name);
  if (owner !== undefined && !isReclaimed) return owner;
  files.withTemporary(formatKept(pod), (temporary) =>
    linkReservation(files.system, temporary, files.pathOf(name)),
  );
  return { kind: "kept", pod };
}

/**
 * Keeps an address no longer.
 *
 * @returns its owner now; `undefined` where it is free
 * @throws SystemError
 */
export function keepNoLonger(network: LockedNetwork, address: Address): Owner | undefined {
  const { files } = network;
  const name = formatAddress(address);
  change(network, name, []);
  const owner = ownerAt(files, name);
  if (owner?.kind !== "kept") return owner;
  removeReservation(files, name);
  return undefined;
}

/** The next holder of the lock reads everything, and notes in the journal whether anything is kept. */
function change(network: LockedNetwork, name: string, changed: readonly Kept[]): void {
  network.bringUpToDate();
  changeKept(network.files, name, changed);
  removeJournal(network.files);
}

function ownerAt(files: NetworkFiles, name: string): Owner | undefined {
  return exists(files.system, files.pathOf(name)) ? readOwner(files, name) : undefined;
}
