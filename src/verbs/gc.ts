import type { Attachment } from "../cni/attachment.ts";
import type { NetworkCall } from "../cni/call.ts";
import { CniError, ErrorCode } from "../cni/error.ts";
import { type ValidAttachment, validAttachments } from "../cni/valid-attachments.ts";
import { formatAddress, parseAddress } from "../ipam/address.ts";
import { loadStoreConfig, type StoreConfig } from "../ipam/config.ts";
import { type NetworkFiles, openNetwork } from "../store/files/network-files.ts";
import { isReclaimable } from "../store/journal/record.ts";
import { type LockOptions, withLockIfPossible } from "../store/lock.ts";
import type { PossiblyLockedNetwork } from "../store/locked-network.ts";
import { AddressUse } from "../store/namespaces/address-use.ts";
import { AddressesInUse } from "../store/namespaces/addresses-in-use.ts";
import { LinkedAddresses } from "../store/namespaces/linked-addresses.ts";
import { releaseAll, reportingIoFailure, requireRead, shortened } from "../store/release.ts";
import { isAhead } from "../store/reservations/age.ts";
import { keyOf, keysOf, type OwnerKey } from "../store/reservations/owner.ts";
import {
  directoryExists,
  type NamedReservation,
  type Reservation,
  readOwner,
} from "../store/reservations/reservation-file.ts";
import { recover, type System } from "../system/system.ts";
import { lockOptions } from "./lock-options.ts";

const MILLISECOND = 1_000_000n;

/**
 * How much older than the call a reservation must be, in milliseconds: the runtime may have made its list before, and file
 * systems date files by a tick, or a second.
 */
const SETTLED_AFTER = 2000;

/**
 * GC: releases every address whose attachment the runtime does not list (CNI SPEC 1.1.0, section 2). Files that name no
 * container stay, as does what shows that the list is wrong or too old, see `withoutLiving`. Without a list, GC releases only
 * what an ADD in a full range would take: what is dead for certain.
 */
export function gc(system: System, call: NetworkCall): void {
  const begun = system.now();
  const valid = validAttachments(call.network);
  if (valid === undefined) {
    const released = releaseCertain(system, call);
    const count = released === 1 ? "1 reservation" : `${released} reservations`;
    const what = released === 0 ? "nothing was released" : `released ${count} of dead pods alone`;
    system.writeStandardError(`host-local: GC without cni.dev/valid-attachments; ${what}\n`);
    return;
  }
  const config = storeConfig(call);
  const files = openNetwork(system, config.dataDir, config.network);
  const request = lockOptions(call, config, "GC");
  reportingIoFailure(() => {
    if (!directoryExists(files)) return;
    const { stale, unread } = withLockIfPossible(files, request, (network) =>
      search(network, valid),
    );
    if (stale.length > 0) releaseDead(files, request, stale, begun);
    requireRead(unread, "the reservations that are not listed");
  });
}

/**
 * Releases what is dead for certain; nothing where the configuration is wrong, since nothing was asked for.
 *
 * @returns how many reservations
 * @throws CniError 5
 */
function releaseCertain(system: System, call: NetworkCall): number {
  let config: StoreConfig;
  try {
    config = storeConfig(call);
  } catch (error) {
    if (error instanceof CniError) return 0;
    throw error;
  }
  const files = openNetwork(system, config.dataDir, config.network);
  const request = lockOptions(call, config, "GC");
  let released = 0;
  reportingIoFailure(() => {
    if (!config.reclaims || !directoryExists(files)) return;
    const isAnyDead = withLockIfPossible(files, request, (network) => deadIn(network).length > 0);
    if (!isAnyDead) return;
    const { use } = seenInUse(files);
    withLockIfPossible(files, request, (network) => {
      const dead = withoutKept(network, deadIn(network), "reservations of dead pods", ({ name }) =>
        whyKept(name, use),
      );
      releaseAll(network, dead);
      released = dead.length;
    });
  });
  return released;
}

/** The reservations of dead pods, and those from before this boot. */
function deadIn(network: PossiblyLockedNetwork): readonly NamedReservation[] {
  const gone = [...network.states().gone(isReclaimable)];
  return gone.map(({ name }) => ({ name, owner: readOwner(network.files, name) }));
}

/** The reservations that the list lacks, and why some could not be read. */
function search(
  network: PossiblyLockedNetwork,
  valid: readonly ValidAttachment[],
): { readonly stale: readonly Reservation[]; readonly unread: readonly string[] } {
  network.files.sweepAll();
  const isUnlisted = notListedIn(valid);
  const stale = network.allOwned().filter(({ owner }) => isUnlisted(keyOf(owner)));
  for (const reason of shortened(network.unreadable)) {
    network.warn(`host-local: ${reason}; GC left it alone\n`);
  }
  return { stale, unread: network.unreadableOf(isUnlisted) };
}

/** Releases what the list lacks, but for what is seen to be in use. */
function releaseDead(
  files: NetworkFiles,
  request: LockOptions,
  stale: readonly Reservation[],
  begun: number,
): void {
  const seen = seenInUse(files);
  withLockIfPossible(files, request, (network) => {
    releaseAll(network, withoutLiving(network, stale, seen, begun));
  });
}

/** What is seen to be in use. */
interface Seen {
  readonly inUse: AddressesInUse;
  readonly use: AddressUse;
}

/** Looks at what is in use, without the lock: pods can make this take long with many routes. */
function seenInUse(files: NetworkFiles): Seen {
  const linked = new LinkedAddresses(files.system);
  const inUse = new AddressesInUse(files.system, undefined, linked);
  return { inUse, use: new AddressUse(files, { linked, inUse: () => inUse }) };
}

/** The reservations whose containers may be dead. */
function withoutLiving(
  network: PossiblyLockedNetwork,
  stale: readonly Reservation[],
  seen: Seen,
  begun: number,
): readonly Reservation[] {
  return withoutKept(network, stale, "reservations that the list lacks", (reservation) =>
    whyAlive(network, reservation, seen, begun),
  );
}

/** Leaves out the reservations that are kept, and says which and why. */
function withoutKept<T extends NamedReservation>(
  network: PossiblyLockedNetwork,
  reservations: readonly T[],
  what: string,
  whyKept: (reservation: T) => string | undefined,
): readonly T[] {
  const reasons: string[] = [];
  const others = reservations.filter((reservation) => {
    const reason = whyKept(reservation);
    if (reason !== undefined) reasons.push(reason);
    return reason === undefined;
  });
  if (reasons.length > 0) {
    const count = `${reasons.length} of ${reservations.length} ${what} in network ${network.files.network}`;
    network.warn(`host-local: GC kept ${count}: ${shortened(reasons).join("; ")}\n`);
  }
  return others;
}

/** Why the reservation of a dead container with this name is kept, in a clause. */
function whyKept(name: string, use: AddressUse): string | undefined {
  const address = parseAddress(name);
  return address && use.whyKept(address);
}

/**
 * Why a reservation is kept, in a clause: somebody uses the address; or the container need not be dead: it is of this boot, and
 * its namespace is not gone; or, where none is recorded, some may not be seen, or the reservation may be newer than the list.
 */
function whyAlive(
  network: PossiblyLockedNetwork,
  { name, address }: Reservation,
  { inUse, use }: Seen,
  begun: number,
): string | undefined {
  const text = formatAddress(address);
  const fate = network.states().fateOf(name);
  // The runtime lists every attachment, of whatever container: one that it lacks, and that is gone, is dead.
  if (fate?.kind === "dead" || fate?.kind === "gone") return use.whyKept(address);
  const used = inUse.whyUsed(text);
  if (used !== undefined) return used;
  if (fate !== undefined) return `${text}: ${fate.reason}`;
  const { incomplete } = inUse;
  if (incomplete !== undefined) return `whether ${text} is in use is not known: ${incomplete}`;
  const { system } = network.files;
  const look = (): string | undefined => {
    const { modified } = system.linkStatus(network.files.pathOf(name));
    const dated = Number(modified / MILLISECOND);
    const isNew = dated > begun - SETTLED_AFTER && !isAhead(dated, system.now());
    return isNew ? `${text} was reserved only just now` : undefined;
  };
  return recover(look, ({ code, message }) =>
    code === "ENOENT" ? undefined : `when it was reserved is not known: ${message}`,
  );
}

/** Whether the owner with a key is not listed; a legacy file stays while any interface of its container is listed. */
function notListedIn(valid: readonly ValidAttachment[]): (key: OwnerKey | undefined) => boolean {
  const keys = new Set(valid.flatMap((attachment) => keysOf(attachment as Attachment)));
  return (key) => key !== undefined && !keys.has(key);
}

function storeConfig({ network }: NetworkCall): StoreConfig {
  try {
    return loadStoreConfig(network);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw new CniError(ErrorCode.invalidNetworkConfig, error.message, error.details);
  }
}
