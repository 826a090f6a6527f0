/** Counts the addresses of ranges; integers of any size. */

import {
  type Family,
  formatAddress,
  formatAddressRange,
  isPartOf,
  sizeOf,
} from "../../ipam/address.ts";
import {
  type Excluded,
  type Exclusions,
  makeExclusions,
  type ReservedRange,
} from "../../ipam/exclusions.ts";
import { defaultRangeOf, type Range } from "../../ipam/range.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import { capacityOf } from "../../ipam/round-robin.ts";
import type { HeldAddress } from "../../store/reservations/reservation-file.ts";
import { usageOf } from "../../store/reservations/usage.ts";
import { formatSubnet } from "./bridge-plugin.ts";

/** Counts of addresses; `size` is the sum of `excluded`, `used` and `free`. */
export interface Counts {
  readonly size: bigint;
  /** The addresses that are not for every pod: the gateway, excluded and reserved ones. */
  readonly excluded: bigint;
  /** The addresses among them that `ipam.reserved` has for a pod or for nobody, free or not. */
  readonly reserved: bigint;
  /** The addresses that any pod can get: `size` without `excluded`. */
  readonly capacity: bigint;
  readonly used: bigint;
  /** Used addresses whose files name no container, or cannot be read. */
  readonly unowned: bigint;
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

/**
 * Counts the addresses of each range.
 *
 * @param unowned the reservations that name no container, or cannot be read
 */
export function countRanges(
  { rangeSets, exclusions, reserved }: Excluded & { readonly rangeSets: readonly RangeSet[] },
  reservations: readonly HeldAddress[],
  unowned: readonly HeldAddress[],
): readonly RangeCounts[] {
  return rangeSets.flatMap((set, index) => {
    const usage = usageOf(set, exclusions, reservations);
    const unownedUsage = usageOf(set, exclusions, unowned);
    return usage.map(({ range, capacity, used }, at) => ({
      set: index,
      range,
      size: sizeOf(range),
      excluded: sizeOf(range) - capacity,
      reserved: reservedIn(range, reserved),
      capacity,
      used,
      unowned: unownedUsage[at]?.used ?? 0n,
      free: capacity > used ? capacity - used : 0n,
    }));
  });
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
    size: sum(({ size }) => size),
    excluded: sum(({ excluded }) => excluded),
    reserved: sum(({ reserved }) => reserved),
    capacity: sum(({ capacity }) => capacity),
    used: sum(({ used }) => used),
    unowned: sum(({ unowned }) => unowned),
    free: sum(({ free }) => free),
  };
}

/** Counts of the addresses of one family. */
export interface FamilyCounts extends Counts {
  readonly family: Family;
}

/** The sums of the families that there are: an IPv4 range that is full does not show beside IPv6 addresses. */
export function totalsOf(ranges: readonly RangeCounts[]): readonly FamilyCounts[] {
  return ([4, 6] as const).flatMap((family) => {
    const own = ranges.filter(({ range }) => range.family === family);
    return own.length === 0 ? [] : [{ family, ...addUp(own) }];
  });
}

/** The JSON form of totals. */
export function describeTotals(totals: readonly FamilyCounts[]): readonly object[] {
  return totals.map((total) => ({ family: `IPv${total.family}`, ...describeCounts(total) }));
}

/** Reservations outside all ranges. */
export function outsideRanges(
  sets: readonly RangeSet[],
  reservations: readonly HeldAddress[],
): readonly HeldAddress[] {
  return reservations.filter(({ address }) => sets.every((set) => !rangeOf(set, address)));
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
export function permille({ used, capacity }: Counts): number | undefined {
  if (capacity === 0n) return undefined;
  return Number(used >= capacity ? 1000n : (used * 1000n) / capacity);
}

/** The JSON form of counts. */
export function describeCounts(counts: Counts): object {
  const { size, excluded, reserved, capacity, used, unowned, free } = counts;
  const tenths = permille(counts);
  const percent = tenths === undefined ? null : tenths / 10;
  return { size, excluded, reserved, capacity, used, unowned, free, percent };
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
