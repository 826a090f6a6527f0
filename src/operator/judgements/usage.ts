/** Counts the addresses of ranges; integers of any size. */

import { formatAddress, formatAddressRange, isPartOf } from "../../ipam/address.ts";
import { type Exclusions, makeExclusions, type ReservedRange } from "../../ipam/exclusions.ts";
import { defaultRangeOf, type Range } from "../../ipam/range.ts";
import { capacityOf } from "../../ipam/round-robin.ts";
import type { HeldAddress } from "../../store/reservations/reservation-file.ts";
import { usageOf } from "../../store/reservations/usage.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import { formatSubnet } from "./bridge-plugin.ts";

/** Counts of addresses. */
export interface Counts {
  /** The addresses that any pod can get: without the gateway, excluded and reserved ones. */
  readonly capacity: bigint;
  readonly used: bigint;
  readonly free: bigint;
}

/** The counts of a range. */
export interface RangeCounts extends Counts {
  /** The index of its range set, as in the names of the cursors. */
  readonly set: number;
  readonly range: Range;
}

/** The share in use, in tenths of a percent, from which on a range is nearly full. */
export const NEARLY_FULL = 900;

/** kubelet's `maxPods` is an int32. */
const MAX_PODS = 2n ** 31n - 1n;

/** Counts the addresses of each range. */
export function countRanges(
  { rangeSets, exclusions }: Pick<FoundNetwork, "rangeSets" | "exclusions">,
  reservations: readonly HeldAddress[],
): readonly RangeCounts[] {
  return rangeSets.flatMap((set, index) =>
    usageOf(set, exclusions, reservations).map(({ range, capacity, used }) => {
      const free = capacity > used ? capacity - used : 0n;
      return { set: index, range, capacity, used, free };
    }),
  );
}

/** How many addresses of a range `ipam.reserved` has for a pod or for nobody. */
export function reservedIn(range: Range, reserved: readonly ReservedRange[]): bigint {
  return capacityOf(range, []) - capacityOf(range, makeExclusions(reserved));
}

/** The sum of several counts. */
export function addUp(counts: readonly Counts[]): Counts {
  const sum = (pick: (counts: Counts) => bigint): bigint =>
    counts.reduce((total, own) => total + pick(own), 0n);
  return {
    capacity: sum(({ capacity }) => capacity),
    used: sum(({ used }) => used),
    free: sum(({ free }) => free),
  };
}

/**
 * The number of pods a network can hold, whichever they are: each takes one address of every set. An address that is reserved
 * for a pod serves no other one, so it does not count. `undefined` if no ranges are known.
 */
export function podsFor(
  sets: readonly (readonly Range[])[],
  exclusions: Exclusions,
): bigint | undefined {
  const capacities = sets.map((set) =>
    set.reduce((total, range) => total + capacityOf(range, exclusions), 0n),
  );
  return capacities.reduce<bigint | undefined>(
    (least, own) => (least === undefined || own < least ? own : least),
    undefined,
  );
}

/** A value for kubelet's `maxPods`, capped at its maximum. */
export function maxPods(pods: bigint): bigint {
  return pods < MAX_PODS ? pods : MAX_PODS;
}

/**
 * The share of the capacity in use, in tenths of a percent, rounded down: only a full range has 1000.
 *
 * @returns `undefined` if the capacity is 0
 */
export function permille({
  used,
  capacity,
}: Pick<Counts, "used" | "capacity">): number | undefined {
  if (capacity === 0n) return undefined;
  return Number(used >= capacity ? 1000n : (used * 1000n) / capacity);
}

/** The JSON form of a range. */
export function describeRange({ set, range }: RangeCounts): object {
  return {
    set,
    first: formatAddress(range.first),
    last: formatAddress(range.last),
    subnet: formatSubnet(range),
    gateway: range.gateway === undefined ? null : formatAddress(range.gateway),
  };
}

/** A range, such as `10.1.2.10-10.1.2.20`; its subnet if it has all addresses that can be handed out there. */
export function formatRange(range: Range): string {
  const whole = defaultRangeOf({
    address: range.first,
    length: range.prefixLength,
    mapped: false,
  });
  return isPartOf(whole, range) ? formatSubnet(range) : formatAddressRange(range);
}
