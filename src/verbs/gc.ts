import type { NetworkCall } from "../cni/call.ts";
import { CniError, ErrorCode } from "../cni/error.ts";
import { type ValidAttachment, validAttachments } from "../cni/valid-attachments.ts";
import { formatAddress } from "../ipam/address.ts";
import { loadStoreConfig, type StoreConfig } from "../ipam/config.ts";
import { type NetworkFiles, openNetwork } from "../store/files/network-files.ts";
import { type LockOptions, withLockIfPossible } from "../store/lock.ts";
import type { PossiblyLockedNetwork } from "../store/locked-network.ts";
import { type Processes, readProcesses } from "../store/namespaces/process-namespaces.ts";
import { releaseAll, reportingIoFailure, requireRead, shortened } from "../store/release.ts";
import { keyOf, type Owner } from "../store/reservations/owner.ts";
import { directoryExists, type OwnedReservation } from "../store/reservations/reservation-file.ts";
import { attempt, type System } from "../system/system.ts";
import { lockOptions } from "./lock-options.ts";

const MILLISECOND = 1_000_000n;

/**
 * GC: releases every address whose attachment the runtime does not list (CNI SPEC 1.1.0, section 2). Files that name
 * no container stay, and what shows that the list is wrong or too old: see `withoutLiving`. Without a list nothing is
 * released.
 */
export function gc(system: System, call: NetworkCall): void {
  const begun = system.now();
  const valid = validAttachments(call.network);
  if (valid === undefined) {
    system.writeStandardError(
      "host-local: GC without cni.dev/valid-attachments; nothing was released\n",
    );
    return;
  }
  const config = storeConfig(call);
  const files = openNetwork(system, config.dataDir, config.network);
  const request = lockOptions(call, config, "GC");
  const isStale = notListedIn(valid);
  reportingIoFailure(() => {
    if (!directoryExists(files)) return;
    const { stale, unread } = withLockIfPossible(files, request, (network) =>
      search(network, isStale),
    );
    if (stale.length > 0) releaseDead(files, request, stale, begun);
    requireRead(unread, "the reservations that are not listed");
  });
}

/** What the list lacks, and why some of that could not be read. */
function search(
  network: PossiblyLockedNetwork,
  isStale: (owner: Owner) => boolean,
): { readonly stale: readonly OwnedReservation[]; readonly unread: readonly string[] } {
  network.files.sweepAll();
  const stale = network.allOwned().filter(({ owner }) => isStale(owner));
  for (const reason of shortened(network.unreadable)) {
    network.warn(`host-local: ${reason}; GC left it alone\n`);
  }
  return { stale, unread: network.unreadableOf(isStale) };
}

/** Releases what no process uses; it looks at them without the lock, since that takes as long as pods with many routes want. */
function releaseDead(
  files: NetworkFiles,
  request: LockOptions,
  stale: readonly OwnedReservation[],
  begun: number,
): void {
  const processes = readProcesses(files.system);
  withLockIfPossible(files, request, (network) => {
    releaseAll(network, withoutLiving(network, stale, processes, begun));
  });
}

/**
 * Those that may be dead: not what a process has in its network namespace, and not what was reserved after the call had
 * begun, when its list was made already. Says what is kept.
 */
function withoutLiving(
  network: PossiblyLockedNetwork,
  stale: readonly OwnedReservation[],
  processes: Processes,
  begun: number,
): readonly OwnedReservation[] {
  const { network: name } = network.files;
  const users = usersOf(processes);
  const kept = new Map<OwnedReservation, string>();
  for (const reservation of stale) {
    const address = formatAddress(reservation.address);
    const user = users.get(address);
    if (user !== undefined) {
      kept.set(reservation, `${address} is in use by ${user}`);
    } else if (processes.incomplete !== undefined) {
      kept.set(reservation, `whether ${address} is in use is not known: ${processes.incomplete}`);
    } else if (isMadeAfter(network.files, reservation, begun)) {
      kept.set(reservation, `${address} was reserved after the call had begun`);
    }
  }
  if (kept.size > 0) {
    const reasons = shortened([...kept.values()]).join("; ");
    const count = `${kept.size} of ${stale.length} reservations that the list lacks`;
    network.warn(`host-local: GC kept ${count} in network ${name}: ${reasons}\n`);
  }
  return stale.filter((reservation) => !kept.has(reservation));
}

/** Who has an address, in words. */
function usersOf({ namespaces, nodeAddresses }: Processes): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const { addresses, processId } of namespaces) {
    for (const address of addresses) users.set(address, `process ${processId}`);
  }
  for (const address of nodeAddresses) users.set(address, "the node itself");
  return users;
}

/** Whether a reservation was made after a time, in milliseconds since the epoch. */
function isMadeAfter(files: NetworkFiles, { name }: OwnedReservation, time: number): boolean {
  const status = attempt(() => files.system.linkStatus(files.pathOf(name)), undefined);
  return status !== undefined && status.modified > BigInt(time) * MILLISECOND;
}

/** Whether an owner is not listed; a legacy file stays while any interface of its container is listed. */
function notListedIn(valid: readonly ValidAttachment[]): (owner: Owner) => boolean {
  const containers = new Set<string>(valid.map(({ containerId }) => containerId));
  const attachments = new Set<string>(
    valid.map(({ containerId, interfaceName }) => `${containerId} ${interfaceName}`),
  );
  return (owner) => {
    if (owner.kind === "attachment") return !attachments.has(keyOf(owner));
    return owner.kind === "legacy" && !containers.has(owner.containerId);
  };
}

function storeConfig({ network }: NetworkCall): StoreConfig {
  try {
    return loadStoreConfig(network);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw new CniError(ErrorCode.invalidNetworkConfig, error.message, error.details);
  }
}
