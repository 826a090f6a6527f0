/** One address of a range set for one attachment. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import { type Address, formatAddress, isSame } from "../ipam/address.ts";
import { type Exclusions, isExcluded } from "../ipam/exclusions.ts";
import type { Range } from "../ipam/range.ts";
import { formatRangeSet, type RangeSet, rangeOf } from "../ipam/range-set.ts";
import { candidates } from "../ipam/round-robin.ts";
import { isSystemError, type System } from "../system/system.ts";
import { cursorPath, readCursor, writeCursor } from "./cursor.ts";
import { join, type Location } from "./location.ts";
import { describeOwner, formatOwner, matchOwner } from "./owner.ts";
import { type HeldReservation, listReservations, namesIn, readOwner } from "./reservations.ts";
import type { Store } from "./store.ts";
import { withTemporary } from "./temporary.ts";
import { countSuspects, describeUsage, rangeToReclaim, usageOf } from "./usage.ts";

/** An address that was reserved, with the range it is from. */
export interface Allocation {
  readonly address: Address;
  readonly range: Range;
}

/** What is wanted: an address of one set for one attachment. */
export interface AllocationRequest {
  readonly attachment: Attachment;
  readonly set: RangeSet;
  /** The set's position among all sets; it numbers the cursor. */
  readonly index: number;
  readonly exclusions: Exclusions;
  /** An address of the set that was asked for by name. */
  readonly requested: Address | undefined;
  /** What the attachment held before this call. */
  readonly held: readonly HeldReservation[];
  /** What this call has reserved already, in other sets. */
  readonly allocated: readonly Allocation[];
}

/** So many addresses are tried before the directory is read to see which are taken. */
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

/**
 * Gives back what this call reserved, and nothing else.
 *
 * @returns whether all of it could be given back
 */
export function undo(
  store: Store,
  attachment: Attachment,
  allocations: readonly Pick<Allocation, "address">[],
): boolean {
  const { system, location } = store;
  let complete = true;
  for (const { address } of allocations) {
    const name = formatAddress(address);
    try {
      const owner = readOwner(system, location, name);
      if (owner.kind === "unknown") complete = false;
      // It may have been released meanwhile, and be another's by now.
      if (matchOwner(owner, attachment) === "exact") store.release({ name, owner });
    } catch (error) {
      // The error that led here is the one to report; the DEL that follows it tries again.
      if (!isSystemError(error)) throw error;
      complete = false;
    }
  }
  return complete;
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
  if (isSame(requested, range.gateway)) {
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
    claim(store, request, requested, temporary),
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
  const held = request.held.find(({ address }) => rangeOf(set, address) !== undefined);
  if (held !== undefined) {
    throw internalError(
      `${formatAddress(held.address)} has been allocated to ${attachment.containerId}, duplicate allocation is not allowed`,
      `${join(location.directory, held.name)} already reserves an address of this range set for ${attachment.containerId} ${attachment.interfaceName}`,
    );
  }
  const cursor = readCursor(system, location, index, (line) => store.warn(line));
  const allocation = withTemporary(system, location, formatOwner(attachment), (temporary) => {
    const isTaken = takenAfter(system, location);
    for (const candidate of candidates(set, cursor, exclusions)) {
      if (isTaken(formatAddress(candidate.address))) continue;
      if (claim(store, request, candidate.address, temporary)) return candidate;
    }
    return takeOver(store, request, temporary);
  });
  if (allocation !== undefined) return allocation;
  const reservations = listReservations(system, location);
  const usage = usageOf(set, exclusions, reservations);
  const suspects = store.mayHaveOwnerless ? countSuspects(system, location, set, reservations) : 0;
  throw internalError(
    `no IP addresses available in range set: ${formatRangeSet(set)}`,
    describeUsage(usage, suspects, location),
  );
}

/** Reserves one address, which the index lists before it is reserved. */
function claim(
  store: Store,
  request: AllocationRequest,
  address: Address,
  temporary: string,
): boolean {
  const { attachment, held, allocated } = request;
  store.announce(attachment, heldNames(held, [...allocated, { address }]));
  return store.reserve(address, attachment, temporary);
}

/** The file names of all that an attachment holds after an ADD. */
export function heldNames(
  before: readonly HeldReservation[],
  added: readonly Pick<Allocation, "address">[],
): readonly string[] {
  const exact = before.filter(({ match }) => match === "exact").map(({ name }) => name);
  return [...exact, ...added.map(({ address }) => formatAddress(address))].sort();
}

/** Says "not known to be taken" for the first few addresses, then reads the directory once and knows. */
function takenAfter(system: System, location: Location): (address: string) => boolean {
  let tries = 0;
  let taken: ReadonlySet<string> | undefined;
  return (address) => {
    if (tries++ < BLIND_TRIES) return false;
    taken ??= new Set(namesIn(system, location));
    return taken.has(address);
  };
}

/** The set is full: an empty file, which nobody can ever release, gives way. */
function takeOver(
  store: Store,
  request: AllocationRequest,
  temporary: string,
): Allocation | undefined {
  if (!store.mayHaveOwnerless) return undefined;
  const { system, location } = store;
  for (const reservation of listReservations(system, location)) {
    const range = rangeToReclaim(system, location, request, reservation);
    if (range === undefined || !store.reclaim(reservation.name)) continue;
    const { address } = reservation;
    if (claim(store, request, address, temporary)) return { address, range };
  }
  return undefined;
}
