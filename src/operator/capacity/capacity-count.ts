/** How many addresses there are, and what has become of them; whole numbers of any size. */

import { formatAddress, sizeOf } from "../../ipam/address.ts";
import type { Exclusions } from "../../ipam/exclusions.ts";
import { addressRangeOf, formatPrefix } from "../../ipam/prefix.ts";
import type { Range } from "../../ipam/range.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import { capacityOf } from "../../ipam/round-robin.ts";
import type { Reservation } from "../../store/reservations.ts";
import { usageOf } from "../../store/usage.ts";

/** `size` is `reserved`, `used` and `free` together. */
export interface Counts {
  readonly size: bigint;
  /** Never handed out: gateway and exclusions. */
  readonly reserved: bigint;
  /** What can be handed out at all. */
  readonly capacity: bigint;
  readonly used: bigint;
  /** Those of the used addresses whose files name no container, or cannot be read. */
  readonly suspects: bigint;
  readonly free: bigint;
}

export interface RangeCounts extends Counts {
  /** The position of its range set, as in the names of the cursors. */
  readonly set: number;
  readonly range: Range;
}

/** kubelet's `--max-pods` is an int32. */
const MOST_PODS = 2n ** 31n - 1n;

/**
 * Counts each range.
 *
 * @param suspects those of the reservations that name no container, or cannot be read
 */
export function countRanges(
  sets: readonly RangeSet[],
  exclusions: Exclusions,
  reservations: readonly Reservation[],
  suspects: readonly Reservation[],
): readonly RangeCounts[] {
  return sets.flatMap((set, index) => {
    const usage = usageOf(set, exclusions, reservations);
    const suspicion = usageOf(set, exclusions, suspects);
    return usage.map(({ range, capacity, used }, at) => ({
      set: index,
      range,
      size: sizeOf(range),
      reserved: sizeOf(range) - capacity,
      capacity,
      used,
      suspects: suspicion[at]?.used ?? 0n,
      free: capacity > used ? capacity - used : 0n,
    }));
  });
}

/** The sum of several counts. */
export function addUp(counts: readonly Counts[]): Counts {
  const sum = (pick: (one: Counts) => bigint): bigint =>
    counts.reduce((total, one) => total + pick(one), 0n);
  return {
    size: sum(({ size }) => size),
    reserved: sum(({ reserved }) => reserved),
    capacity: sum(({ capacity }) => capacity),
    used: sum(({ used }) => used),
    suspects: sum(({ suspects }) => suspects),
    free: sum(({ free }) => free),
  };
}

/** Reservations that lie in no range. */
export function outside(
  sets: readonly RangeSet[],
  reservations: readonly Reservation[],
): readonly Reservation[] {
  return reservations.filter(({ address }) => sets.every((set) => !rangeOf(set, address)));
}

/** How many pods a network can hold: each takes one address of every set. `undefined` where no ranges are known. */
export function podsFor(sets: readonly RangeSet[], exclusions: Exclusions): bigint | undefined {
  const capacities = sets.map((set) =>
    set.reduce((total, range) => total + capacityOf(range, exclusions), 0n),
  );
  return capacities.reduce<bigint | undefined>(
    (least, one) => (least === undefined || one < least ? one : least),
    undefined,
  );
}

/** As many pods as kubelet can be told. */
export function maxPods(pods: bigint): bigint {
  return pods < MOST_PODS ? pods : MOST_PODS;
}

/** The numbers of the sets that have no free address. */
export function fullSets(counts: readonly RangeCounts[]): readonly number[] {
  const sets = [...new Set(counts.map(({ set }) => set))];
  return sets.filter((set) => counts.every((one) => one.set !== set || one.free === 0n));
}

/**
 * How much of what can be handed out is in use, in tenths of a percent, rounded down: 1000 is said only of a full range.
 *
 * @returns `undefined` where nothing can be handed out
 */
export function permille({ used, capacity }: Counts): number | undefined {
  if (capacity === 0n) return undefined;
  return Number(used >= capacity ? 1000n : (used * 1000n) / capacity);
}

/** Counts for programs. */
export function describeCounts(counts: Counts): object {
  const { size, reserved, capacity, used, suspects, free } = counts;
  const tenths = permille(counts);
  const percent = tenths === undefined ? null : tenths / 10;
  return { size, reserved, capacity, used, suspects, free, percent };
}

/** A range with its counts, for programs. */
export function describeRange(counts: RangeCounts): object {
  const { set, range } = counts;
  return {
    set,
    first: formatAddress(range.first),
    last: formatAddress(range.last),
    subnet: subnetOf(range),
    gateway: formatAddress(range.gateway),
    ...describeCounts(counts),
  };
}

/** The network of which a range is a part, such as `10.1.2.0/24`. */
export function subnetOf({ first, prefixLength }: Range): string {
  const prefix = { address: first, length: prefixLength, mapped: false };
  return formatPrefix({ ...prefix, address: addressRangeOf(prefix).first });
}
