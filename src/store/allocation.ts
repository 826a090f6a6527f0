/** Reserving an address of a range set for an attachment. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import type { PodName } from "../cni/pod.ts";
import { type Address, formatAddress, parseAddress } from "../ipam/address.ts";
import {
  type Exclusions,
  formatReservedFor,
  isExcluded,
  partReservedFor,
  type ReservedRange,
  reservedAt,
} from "../ipam/exclusions.ts";
import { isGateway } from "../ipam/range.ts";
import { formatRangeSet, type RangeSet, rangeOf } from "../ipam/range-set.ts";
import type { Candidate } from "../ipam/round-robin.ts";
import { recover } from "../system/system.ts";
import { candidatesInOrder } from "./candidate-order.ts";
import type { AddedNamespace } from "./journal/record.ts";
import type { LockedNetwork } from "./locked-network.ts";
import { cursorPath, readCursor, writeCursor } from "./reservations/cursor.ts";
import { contentOf, describeOwner } from "./reservations/owner.ts";
import { type Reservation, readOwner } from "./reservations/reservation-file.ts";
import {
  candidateAt,
  countUsage,
  describeUsage,
  removableAt,
  unownedIn,
} from "./reservations/usage.ts";
import type { Preferences } from "./reuse/reuse.ts";

/** A request for an address of a range set for an attachment. */
interface AllocationRequest {
  readonly attachment: Attachment;
  readonly set: RangeSet;
  /** The set's position among all sets; it numbers the cursor. */
  readonly index: number;
  /** Those for the pod. */
  readonly exclusions: Exclusions;
  readonly reserved: readonly ReservedRange[];
  /** Whose attachment it is; `undefined` where the call does not tell. */
  readonly pod: PodName | undefined;
  /** The address that the runtime requests from this set, if any. */
  readonly requested: Address | undefined;
  readonly preferences: Preferences;
  /** For which the attachment is; `undefined` where that is not known. */
  readonly namespace: AddedNamespace | undefined;
  /** Whether the reservations of dead containers are reclaimed where no other address will do. */
  readonly reclaims: boolean;
  /** What the attachment held before this call. */
  readonly held: readonly Reservation[];
  /** What an operator runs next if the set, or its part that is reserved for the pod, has no free address, for the error. */
  readonly advice: (set: RangeSet) => string;
}

/**
 * Reserves an address, and moves the cursor to it. Where it throws, the caller undoes what the network has reserved.
 *
 * @throws CniError 999 in the Go plugin's words
 */
export function allocate(network: LockedNetwork, given: AllocationRequest): Candidate {
  const { requested, index, set, reserved, pod, held } = given;
  if (requested !== undefined) {
    return withCursor(network, index, allocateRequested(network, given, requested));
  }
  const request = held.length === 0 ? given : reclaimOwn(network, given);
  const part = partReservedFor(set, reserved, pod);
  // Not by the cursor, which stays: a pod that is started again and again would lead all others to the same addresses.
  if (part !== undefined) return allocateNext(network, { ...request, set: part }, undefined);
  const cursor = readCursor(network.files, index, (line) => network.warn(line));
  return withCursor(network, index, allocateNext(network, request, cursor));
}

/**
 * Moves the cursor of the set with this index to the address that was reserved.
 *
 * @throws CniError 999 in the Go plugin's words
 */
function withCursor({ files }: LockedNetwork, index: number, allocated: Candidate): Candidate {
  const write = (): void => writeCursor(files, index, allocated.address);
  recover(write, ({ reason, message }) => {
    throw internalError(`open ${cursorPath(files, index)}: ${reason}`, message);
  });
  return allocated;
}

function allocateRequested(
  network: LockedNetwork,
  request: AllocationRequest,
  requested: Address,
): Candidate {
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
    const entry = reservedAt(request, requested);
    throw entry === undefined
      ? internalError(`requested ip ${text} is excluded`, "it is listed in ipam.exclude")
      : internalError(
          `requested ip ${text} is reserved for ${formatReservedFor(entry)}`,
          "it is listed in ipam.reserved",
        );
  }
  const free = network.files.withTemporary(contentOf(attachment), (temporary) => {
    const take = (): boolean =>
      network.reserve(requested, attachment, temporary, request.namespace);
    return take() || (reclaimAll(network, request, [text]) && take());
  });
  if (free) return { address: requested, range };
  const holder = readOwner(network.files, text);
  throw internalError(
    `requested IP address ${text} is not available in range set ${formatRangeSet(set)}`,
    `${text} is ${describeOwner(holder)}`,
  );
}

/**
 * Frees the addresses of the set that the attachment has held since before a boot, or for a namespace that is gone: the
 * request is to get one of them again.
 *
 * @throws CniError 999 where it holds any other
 */
function reclaimOwn(network: LockedNetwork, request: AllocationRequest): AllocationRequest {
  const { set, held, preferences } = request;
  const { containerId, interfaceName } = request.attachment;
  const { files } = network;
  const own = held.filter(({ address }) => rangeOf(set, address) !== undefined);
  const names = own.map(({ name }) => name);
  const [duplicate] = own;
  if (duplicate === undefined || reclaimAll(network, request, names)) {
    const before = own.map(({ address }) => address);
    return { ...request, preferences: { ...preferences, own: [...before, ...preferences.own] } };
  }
  throw internalError(
    `${formatAddress(duplicate.address)} has been allocated to ${containerId}, duplicate allocation is not allowed`,
    `${files.pathOf(duplicate.name)} already reserves an address of this range set for ${containerId} ${interfaceName}`,
  );
}

/** @param cursor the address after which to begin */
function allocateNext(
  network: LockedNetwork,
  request: AllocationRequest,
  cursor: Address | undefined,
): Candidate {
  const { files } = network;
  const { attachment, set, exclusions, preferences, namespace } = request;
  const allocation = files.withTemporary(contentOf(attachment), (temporary) => {
    for (const candidate of candidatesInOrder(files, set, exclusions, cursor, preferences)) {
      if (network.reserve(candidate.address, attachment, temporary, namespace)) return candidate;
    }
    return allocateReclaimed(network, request, temporary);
  });
  if (allocation !== undefined) return allocation;
  const usage = countUsage(files, set, exclusions);
  const unowned = unownedIn(set, network.unusual()).length;
  throw internalError(
    `no IP addresses available in range set: ${formatRangeSet(set)}`,
    describeUsage(usage, unowned, files, request.advice(set)),
  );
}

/**
 * Reclaims the reservations with these names, if each is of a dead container.
 *
 * @returns whether they are gone
 */
function reclaimAll(
  network: LockedNetwork,
  { reclaims, attachment, namespace }: AllocationRequest,
  names: readonly string[],
): boolean {
  if (!reclaims) return false;
  const wanted = (name: string): true | undefined => names.includes(name) || undefined;
  const dead = [...network.reclaimable(attachment, namespace, wanted)].map((one) => one.dead);
  return dead.length === names.length && dead.every((one) => network.reclaimDead(one));
}

/**
 * Takes an address of a full set: it reclaims that of a dead container, the oldest reservation first, or removes an empty
 * file, which no DEL could ever release, and which is found only by reading all files.
 */
function allocateReclaimed(
  network: LockedNetwork,
  request: AllocationRequest,
  temporary: string,
): Candidate | undefined {
  const ofDead = request.reclaims && allocateOfDead(network, request, temporary);
  if (ofDead) return ofDead;
  for (const reservation of network.unusual()) {
    const candidate = removableAt(network.files, request, reservation);
    if (candidate === undefined) continue;
    if (!network.removeEmpty(reservation.name)) continue;
    const { attachment, namespace } = request;
    if (network.reserve(candidate.address, attachment, temporary, namespace)) return candidate;
  }
  return undefined;
}

function allocateOfDead(
  network: LockedNetwork,
  { set, exclusions, attachment, namespace }: AllocationRequest,
  temporary: string,
): Candidate | undefined {
  const usable = (name: string): Candidate | undefined =>
    candidateAt(parseAddress(name), set, exclusions);
  for (const { dead, wanted } of network.reclaimable(attachment, namespace, usable)) {
    if (!network.reclaimDead(dead)) continue;
    if (network.reserve(wanted.address, attachment, temporary, namespace)) return wanted;
  }
  return undefined;
}
