/** Reserving an address of a range set for an attachment. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import type { PodName } from "../cni/pod.ts";
import { type Address, formatAddress } from "../ipam/address.ts";
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
import type { AddedNamespace } from "./journal/record.ts";
import type { LockedNetwork } from "./locked-network.ts";
import { type AddressUse, type AddressUser, describeUser } from "./namespaces/address-use.ts";
import { NoAddressError, noAddressIn, operatorCommand } from "./no-address.ts";
import { type Obtainable, obtainableInOrder, type Taken } from "./obtainable.ts";
import { cursorPath, readCursor, writeCursor } from "./reservations/cursor.ts";
import { describeOwner } from "./reservations/owner.ts";
import { type Reservation, readOwner } from "./reservations/reservation-file.ts";
import type { Preferences } from "./reuse/reuse.ts";

/** What a call asks for, of whatever range set. */
export interface AllocationRequest {
  readonly attachment: Attachment;
  /** The addresses that are not handed out to the pod. */
  readonly exclusions: Exclusions;
  readonly reserved: readonly ReservedRange[];
  /** The pod of the attachment; `undefined` where the call does not tell. */
  readonly pod: PodName | undefined;
  readonly preferences: Preferences;
  /** The network namespace that the attachment is for; `undefined` where that is not known. */
  readonly namespace: AddedNamespace | undefined;
  /** Tells which addresses are in use by any other than that namespace. */
  readonly use: AddressUse;
  /** Whether the reservations of dead containers are reclaimed where no other address will do. */
  readonly reclaims: boolean;
  /** What the attachment held before this call. */
  readonly held: readonly Reservation[];
}

/** Reserves addresses for the attachment of a call, one of each range set. */
export class Allocator {
  readonly #network: LockedNetwork;
  readonly #request: AllocationRequest;

  constructor(network: LockedNetwork, request: AllocationRequest) {
    this.#network = network;
    this.#request = request;
  }

  /**
   * Reserves an address of a range set, and moves the cursor to it. Where it throws, the caller undoes what the network has
   * reserved.
   *
   * @param index the set's position among all sets; it numbers the cursor
   * @param requested the address that the runtime requests from this set, if any
   * @throws NoAddressError
   * @throws CniError 999 in the Go plugin's words
   */
  allocate(set: RangeSet, index: number, requested: Address | undefined): Candidate {
    if (requested !== undefined) {
      return this.#withCursor(index, this.#allocateRequested(set, requested));
    }
    const { held, reserved, pod, preferences } = this.#request;
    const before = held.length === 0 ? [] : this.#reclaimOwn(set);
    const own =
      before.length === 0 ? preferences : { ...preferences, own: [...before, ...preferences.own] };
    const part = partReservedFor(set, reserved, pod);
    // The cursor is neither used nor moved: a pod that is started again and again would lead all others to the same addresses.
    if (part !== undefined) return this.#allocateNext(part, undefined, own, pod);
    const cursor = readCursor(this.#network.files, index, (line) => this.#network.warn(line));
    return this.#withCursor(index, this.#allocateNext(set, cursor, own));
  }

  /** Moves the cursor of the set with this index to the address that was reserved. */
  #withCursor(index: number, allocated: Candidate): Candidate {
    const { files } = this.#network;
    const write = (): void => writeCursor(files, index, allocated.address);
    recover(write, ({ reason, message }) => {
      throw internalError(`open ${cursorPath(files, index)}: ${reason}`, message);
    });
    return allocated;
  }

  #allocateRequested(set: RangeSet, requested: Address): Candidate {
    const { attachment, namespace, exclusions, use } = this.#request;
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
      const entry = reservedAt(this.#request, requested);
      throw entry === undefined
        ? internalError(`requested ip ${text} is excluded`, "it is listed in ipam.exclude")
        : internalError(
            `requested ip ${text} is reserved for ${formatReservedFor(entry)}`,
            "it is listed in ipam.reserved",
          );
    }
    const { files } = this.#network;
    const message = `requested IP address ${text} is not available in range set ${formatRangeSet(set)}`;
    const user = use.userOf(requested);
    if (user !== undefined && !use.isReserved(requested)) {
      throw new NoAddressError(message, `${text} is ${describeUser(user)}`, user === "container");
    }
    const candidate = { address: requested, range };
    const candidates = () => this.#asItIsOrReclaimed(candidate, user === undefined);
    const allocated = this.#network.reserve(attachment, candidates, namespace);
    if (allocated !== undefined) return allocated;
    throw internalError(message, `${text} is ${describeOwner(readOwner(files, text))}`);
  }

  /** A candidate as it is, unless it is in use; and once the reservation of a dead container is gone. */
  *#asItIsOrReclaimed(candidate: Candidate, isUnused: boolean): Generator<Candidate, void> {
    if (isUnused) yield candidate;
    if (this.#reclaimAll([formatAddress(candidate.address)])) yield candidate;
  }

  /**
   * Frees the addresses of the set that the attachment has held since before a boot, or for a namespace that is gone.
   *
   * @returns these, one of which it is to get again
   * @throws CniError 999 where it holds any other
   */
  #reclaimOwn(set: RangeSet): readonly Address[] {
    const { held, attachment } = this.#request;
    const own = held.filter(({ address }) => rangeOf(set, address) !== undefined);
    const names = own.map(({ name }) => name);
    const [duplicate] = own;
    if (duplicate === undefined || this.#reclaimAll(names)) {
      return own.map(({ address }) => address);
    }
    const { containerId, interfaceName } = attachment;
    const { files } = this.#network;
    const address = formatAddress(duplicate.address);
    const release = operatorCommand(files, "release", containerId, "--network", files.network);
    throw internalError(
      `${address} has been allocated to ${containerId}, duplicate allocation is not allowed`,
      `${files.pathOf(duplicate.name)} already reserves an address of this range set for ${containerId} ${interfaceName}. If this container is to be started again, and no process of it runs: ${release}`,
    );
  }

  /**
   * @param cursor the address after which to begin
   * @param pod for which the whole set is reserved
   */
  #allocateNext(
    set: RangeSet,
    cursor: Address | undefined,
    preferences: Preferences,
    pod?: PodName,
  ): Candidate {
    const { files } = this.#network;
    const { attachment, namespace, use, exclusions, reserved, reclaims } = this.#request;
    const asked = { set, exclusions, cursor, preferences, reclaims };
    const used = new Map<string, AddressUser>();
    const taken: Taken = {
      use,
      reclaimable: (wantedBy) => this.#network.reclaimable(attachment, namespace, use, wantedBy),
      unusual: () => this.#network.unusual(),
    };
    const candidates = () => this.#cleared(obtainableInOrder(files, asked, taken), used);
    const allocated = this.#network.reserve(attachment, candidates, namespace);
    if (allocated !== undefined) return allocated;
    throw noAddressIn(files, { set, exclusions, reserved, pod }, this.#network.unusual(), used);
  }

  /** The candidates that are free, or are now; `used` gets those that are in use. */
  *#cleared(
    obtainable: ReturnType<typeof obtainableInOrder>,
    used: Map<string, AddressUser>,
  ): Generator<Candidate, void> {
    for (const found of obtainable) {
      if (found.kind === "used") used.set(formatAddress(found.candidate.address), found.user);
      else if (this.#isCleared(found)) yield found.candidate;
    }
  }

  /** Removes the reservation of an address that is not free; says whether that was possible. */
  #isCleared(found: Obtainable): boolean {
    if (found.kind === "free") return true;
    return found.kind === "dead"
      ? this.#network.reclaimDead(found.dead)
      : this.#network.removeEmpty(found.name);
  }

  /**
   * Reclaims the reservations with these names, if each is of a dead container.
   *
   * @returns whether they are gone
   */
  #reclaimAll(names: readonly string[]): boolean {
    const { reclaims, attachment, namespace, use } = this.#request;
    if (!reclaims) return false;
    const wanted = (name: string): true | undefined => names.includes(name) || undefined;
    const found = this.#network.reclaimable(attachment, namespace, use, wanted);
    const dead = [...found].map((reclaimable) => reclaimable.dead);
    return dead.length === names.length && dead.every((file) => this.#network.reclaimDead(file));
  }
}
