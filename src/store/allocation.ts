/** Reserving an address of a range set for an attachment. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import { type Address, formatAddress, parseAddress } from "../ipam/address.ts";
import { type Exclusions, isExcluded } from "../ipam/exclusions.ts";
import { isGateway, type Range } from "../ipam/range.ts";
import { formatRangeSet, type RangeSet, rangeOf } from "../ipam/range-set.ts";
import { type Candidate, candidates, type IsTaken } from "../ipam/round-robin.ts";
import { isSystemError } from "../system/system.ts";
import { byAge, type Preferences } from "./candidate-order.ts";
import { join } from "./files/paths.ts";
import { withTemporary } from "./files/temporary.ts";
import {
  type Earlier,
  isStillThere,
  readNotes,
  replaceBeforeBoot,
} from "./journal/earlier-boots.ts";
import type { Store } from "./locked-network.ts";
import { cursorPath, readCursor, writeCursor } from "./reservations/cursor.ts";
import { describeOwner, formatOwner, matchOwner } from "./reservations/owner.ts";
import { type HeldReservation, readOwner } from "./reservations/reservation-file.ts";
import { takenIn } from "./reservations/reserved-addresses.ts";
import {
  countUsage,
  describeUsage,
  rangeToReclaim,
  suspectsIn,
  usableRangeOf,
} from "./reservations/usage.ts";

/** A reserved address and its range. */
export interface Allocation {
  readonly address: Address;
  readonly range: Range;
}

/** A request for an address of a range set for an attachment. */
export interface AllocationRequest {
  readonly attachment: Attachment;
  readonly set: RangeSet;
  /** The set's position among all sets; it numbers the cursor. */
  readonly index: number;
  readonly exclusions: Exclusions;
  /** The address that the runtime requests from this set, if any. */
  readonly requested: Address | undefined;
  readonly preferences: Preferences;
  /** Whether reservations from before this boot give way where the set is otherwise full. */
  readonly reclaimsAfterReboot: boolean;
  /** What the attachment held before this call. */
  readonly held: readonly HeldReservation[];
  /** What an operator runs next if the set has no free address, for the error. */
  readonly advice: () => string;
}

/** How many addresses are tried before the directory is read to see which are taken. */
const BLIND_TRIES = 8;

/**
 * Reserves an address. Must run under the lock, in an existing directory. When it throws, nothing is reserved.
 *
 * @throws CniError 999 in the reference's words
 */
export function allocate(store: Store, request: AllocationRequest): Allocation {
  return request.requested === undefined
    ? allocateNext(store, request)
    : allocateRequested(store, request, request.requested);
}

/**
 * Moves the cursor of the set with this index to the address that was reserved last.
 *
 * @throws CniError 999 in the reference's words
 */
export function moveCursor({ system, location }: Store, index: number, address: Address): void {
  try {
    writeCursor(system, location, index, address);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw internalError(`open ${cursorPath(location, index)}: ${error.reason}`, error.message);
  }
}

/** Releases what this call reserved, and nothing else, as far as possible. */
export function undo(
  store: Store,
  attachment: Attachment,
  allocations: readonly Pick<Allocation, "address">[],
): void {
  const { system, location } = store;
  for (const { address } of allocations) {
    const name = formatAddress(address);
    try {
      const owner = readOwner(system, location, name);
      // It may have been released meanwhile, and reserved for another attachment.
      if (matchOwner(owner, attachment) === "exact") store.release({ name, owner });
    } catch (error) {
      // The error that caused the undo is reported; the DEL that follows tries again.
      if (!isSystemError(error)) throw error;
    }
  }
}

function allocateRequested(
  store: Store,
  request: AllocationRequest,
  requested: Address,
): Allocation {
  const { attachment, set, exclusions } = request;
  const range = rangeOf(set, requested);
  const text = formatAddress(requested);
  if (range === undefined) throw internalError(`${text} not in range set ${formatRangeSet(set)}`);
  if (isGateway(requested, range)) {
    throw internalError(
      `requested ip ${text} is subnet's gateway`,
      "choose another address or another gateway",
    );
  }
  if (isExcluded(requested, exclusions)) {
    throw internalError(`requested ip ${text} is excluded`, "it is listed in ipam.exclude");
  }
  const { system, location } = store;
  const free = withTemporary(system, location, formatOwner(attachment), (temporary) =>
    store.reserve(requested, attachment, temporary),
  );
  if (free) return { address: requested, range };
  const holder = readOwner(system, location, text);
  throw internalError(
    `requested IP address ${text} is not available in range set ${formatRangeSet(set)}`,
    `${text} is ${describeOwner(holder)}`,
  );
}

function allocateNext(store: Store, request: AllocationRequest): Allocation {
  const { system, location } = store;
  const { attachment, set, index, exclusions } = request;
  const duplicate = request.held.find(({ address }) => rangeOf(set, address) !== undefined);
  if (duplicate !== undefined) {
    throw internalError(
      `${formatAddress(duplicate.address)} has been allocated to ${attachment.containerId}, duplicate allocation is not allowed`,
      `${join(location.directory, duplicate.name)} already reserves an address of this range set for ${attachment.containerId} ${attachment.interfaceName}`,
    );
  }
  const cursor = readCursor(system, location, index, (line) => store.warn(line));
  const allocation = withTemporary(system, location, formatOwner(attachment), (temporary) => {
    const firstOf = (addresses: Iterable<Candidate>): Allocation | undefined => {
      for (const candidate of addresses) {
        if (store.reserve(candidate.address, attachment, temporary)) return candidate;
      }
      return undefined;
    };
    const { preferences } = request;
    const next = candidates(set, cursor, exclusions, takenAfter(store, set));
    return (
      firstOf(usableAmong(preferences.own, request)) ??
      firstOf(notAvoided(next, preferences)) ??
      firstOf(usableAmong(byAge(preferences), request)) ??
      allocateReclaimed(store, request, temporary)
    );
  });
  if (allocation !== undefined) return allocation;
  const usage = countUsage(system, location, set, exclusions);
  const suspects = suspectsIn(set, store.unusual()).length;
  throw internalError(
    `no IP addresses available in range set: ${formatRangeSet(set)}`,
    describeUsage(usage, suspects, location, request.advice()),
  );
}

/** Those addresses that the set may hand out. */
function usableAmong(
  addresses: readonly Address[],
  { set, exclusions }: AllocationRequest,
): readonly Candidate[] {
  return addresses.flatMap((address) => {
    const range = usableRangeOf(address, set, exclusions);
    return range === undefined ? [] : [{ address, range }];
  });
}

function* notAvoided(
  addresses: Iterable<Candidate>,
  { avoided }: Preferences,
): Generator<Candidate, void> {
  for (const candidate of addresses) {
    if (avoided.size === 0 || !avoided.has(formatAddress(candidate.address))) yield candidate;
  }
}

/** Which addresses are known to be taken: none at first, after a few tries those that the directory has. */
function takenAfter({ system, location }: Store, set: RangeSet): IsTaken {
  let tries = 0;
  let isTaken: IsTaken | undefined;
  return (range) => {
    let isTakenAt: ReturnType<IsTaken> | undefined;
    return (offset) => {
      if (tries < BLIND_TRIES) {
        tries++;
        return false;
      }
      isTaken ??= takenIn(system, location, set);
      isTakenAt ??= isTaken(range);
      return isTakenAt(offset);
    };
  };
}

/**
 * Reclaims an address of a full set: from an empty file, which no DEL could ever release, or from a reservation from
 * before this boot, the oldest first.
 */
function allocateReclaimed(
  store: Store,
  request: AllocationRequest,
  temporary: string,
): Allocation | undefined {
  const { system, location } = store;
  for (const reservation of store.unusual()) {
    const range = rangeToReclaim(system, location, request, reservation);
    if (range === undefined || !store.reclaim(reservation.name)) continue;
    const { address } = reservation;
    if (store.reserve(address, request.attachment, temporary)) return { address, range };
  }
  return request.reclaimsAfterReboot ? allocateEarlier(store, request, temporary) : undefined;
}

function allocateEarlier(
  store: Store,
  { set, exclusions, attachment }: AllocationRequest,
  temporary: string,
): Allocation | undefined {
  const { system, location } = store;
  const notes = readNotes(system, location);
  for (const note of notes) {
    const address = parseAddress(note.name);
    const range = address && usableRangeOf(address, set, exclusions);
    if (address === undefined || range === undefined) continue;
    if (!isStillThere(system, location, note) || !store.reclaimEarlier(note)) continue;
    forget(store, notes, note);
    if (store.reserve(address, attachment, temporary)) return { address, range };
  }
  return undefined;
}

/** A note that stays does no harm: its file is gone. */
function forget({ system, location }: Store, notes: readonly Earlier[], used: Earlier): void {
  try {
    replaceBeforeBoot(
      system,
      location,
      notes.filter((note) => note !== used),
    );
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
