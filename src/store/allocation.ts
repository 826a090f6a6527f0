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
import { describeOwner, formatOwner } from "./owner.ts";
import {
  type Holding,
  listReservations,
  namesIn,
  readOwner,
  removeReservation,
} from "./reservations.ts";
import { withTemporary } from "./temporary.ts";
import { debrisIn, describeUsage, suspectsIn, usageOf } from "./usage.ts";

/** An address that was reserved, with the range it is from. */
export interface Allocation {
  readonly address: Address;
  readonly range: Range;
}

/** What is wanted: an address of one set for one attachment. */
export interface Wish {
  readonly attachment: Attachment;
  readonly set: RangeSet;
  /** The set's position among all sets; it numbers the cursor. */
  readonly index: number;
  readonly exclusions: Exclusions;
  /** An address of the set that was asked for by name. */
  readonly requested: Address | undefined;
  /** What the attachment held before this call. */
  readonly holdings: readonly Holding[];
}

/** So many addresses are tried before the directory is read to see which are taken. */
const BLIND_TRIES = 8;

/**
 * Reserves an address and moves the cursor to it. Must run under the lock, in an existing directory. When it throws,
 * nothing is reserved.
 *
 * @throws CniError 999 in the reference's words
 */
export function allocate(system: System, location: Location, wish: Wish): Allocation {
  const allocation =
    wish.requested === undefined
      ? allocateNext(system, location, wish)
      : allocateRequested(system, location, wish, wish.requested);
  try {
    writeCursor(system, location, wish.index, allocation.address);
  } catch (error) {
    undo(system, location, [allocation]);
    if (!isSystemError(error)) throw error;
    throw internalError(`open ${cursorPath(location, wish.index)}: ${error.reason}`, error.message);
  }
  return allocation;
}

/** Gives back what this call reserved, and nothing else. */
export function undo(system: System, location: Location, allocations: readonly Allocation[]): void {
  for (const { address } of allocations) {
    try {
      removeReservation(system, location, formatAddress(address));
    } catch (error) {
      // The error that led here is the one to report; the DEL that follows it tries again.
      if (!isSystemError(error)) throw error;
    }
  }
}

function allocateRequested(
  system: System,
  location: Location,
  { attachment, set, exclusions }: Wish,
  requested: Address,
): Allocation {
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
  const content = formatOwner(attachment);
  const free = withTemporary(system, location, content, (temporary) =>
    claim(system, location, requested, temporary, content),
  );
  if (free) return { address: requested, range };
  const holder = readOwner(system, location, text);
  throw internalError(
    `requested IP address ${text} is not available in range set ${formatRangeSet(set)}`,
    `${text} is ${describeOwner(holder)}`,
  );
}

function allocateNext(system: System, location: Location, wish: Wish): Allocation {
  const { attachment, set, index, exclusions } = wish;
  const held = wish.holdings.find(({ address }) => rangeOf(set, address) !== undefined);
  if (held !== undefined) {
    throw internalError(
      `${formatAddress(held.address)} has been allocated to ${attachment.containerId}, duplicate allocation is not allowed`,
      `${join(location.directory, held.name)} already reserves an address of this range set for ${attachment.containerId} ${attachment.interfaceName}`,
    );
  }
  const cursor = readCursor(system, location, index);
  const content = formatOwner(attachment);
  const allocation = withTemporary(system, location, content, (temporary) => {
    const claimFirst = (isTaken: (address: string) => boolean): Allocation | undefined => {
      for (const candidate of candidates(set, cursor, exclusions)) {
        if (isTaken(formatAddress(candidate.address))) continue;
        if (claim(system, location, candidate.address, temporary, content)) return candidate;
      }
      return undefined;
    };
    return (
      claimFirst(takenAfter(system, location)) ??
      claimFirst(takenAfterReclaiming(system, location, set))
    );
  });
  if (allocation !== undefined) return allocation;
  const reservations = listReservations(system, location);
  const usage = usageOf(set, exclusions, reservations);
  const suspects = suspectsIn(system, location, set, reservations).length;
  throw internalError(
    `no IP addresses available in range set: ${formatRangeSet(set)}`,
    describeUsage(usage, suspects, location),
  );
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

/** The set is full: files that are nobody's are removed, and only their addresses are free. */
function takenAfterReclaiming(
  system: System,
  location: Location,
  set: RangeSet,
): (address: string) => boolean {
  const reclaimed = new Set<string>();
  for (const debris of debrisIn(system, location, set, listReservations(system, location))) {
    try {
      removeReservation(system, location, debris.name);
      reclaimed.add(formatAddress(debris.address));
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
  return (address) => !reclaimed.has(address);
}

/**
 * Gives the temporary file the address as its name: the reservation appears whole or not at all, and only where
 * nothing stands yet. Where the file system has no hard links, it is created exclusively, as the reference does it.
 *
 * @returns whether the address was free
 * @throws CniError 999 in the reference's words: `open <path>: <reason>`
 */
function claim(
  system: System,
  location: Location,
  address: Address,
  temporary: string,
  content: string,
): boolean {
  const path = join(location.directory, formatAddress(address));
  try {
    try {
      system.link(temporary, path);
    } catch (error) {
      if (!isSystemError(error, "EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw error;
      system.createFile(path, content, 0o600);
    }
    return true;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    // Another file system: `withTemporary` tries again from a place beside the goal.
    if (!isSystemError(error) || error.code === "EXDEV") throw error;
    throw internalError(`open ${path}: ${error.reason}`, error.message);
  }
}
