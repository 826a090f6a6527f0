/** Addresses inside ranges that are not handed out: to nobody (`exclude`), or to nobody but one pod (`reserved`). */

import type { PodName } from "../cni/pod.ts";
import {
  type Address,
  type AddressRange,
  addressAt,
  compare,
  intersectionOf,
  isWithin,
} from "./address.ts";
import type { RangeSet } from "./range-set.ts";

/** Excluded address ranges, sorted, that neither touch nor overlap; made only by `makeExclusions`. */
export type Exclusions = readonly AddressRange[];

/** Addresses that the configuration reserves (`reserved`): they are excluded for everybody but the pod, which gets no others. */
export interface ReservedRange extends AddressRange {
  /** `undefined` where they are for nobody. */
  readonly pod: PodName | undefined;
}

/** Sorts address ranges and merges those that touch or overlap. */
export function makeExclusions(ranges: readonly AddressRange[]): Exclusions {
  const merged: AddressRange[] = [];
  for (const range of [...ranges].sort((a, b) => compare(a.first, b.first))) {
    const last = merged.at(-1);
    if (last !== undefined && isNextTo(last, range)) {
      const end = last.last.value > range.last.value ? last.last : range.last;
      merged[merged.length - 1] = { first: last.first, last: end };
    } else {
      merged.push(range);
    }
  }
  return merged;
}

export function isExcluded(address: Address, exclusions: Exclusions): boolean {
  for (const range of exclusions) if (isWithin(address, range)) return true;
  return false;
}

/** The parts of an address range that are not excluded, in ascending order. */
export function without(range: AddressRange, exclusions: Exclusions): readonly AddressRange[] {
  const { family } = range.first;
  const remaining: AddressRange[] = [];
  let first = range.first.value;
  for (const excluded of exclusions) {
    if (excluded.first.family !== family || excluded.last.value < first) continue;
    if (excluded.first.value > range.last.value) break;
    if (excluded.first.value > first) {
      remaining.push({
        first: addressAt(family, first),
        last: addressAt(family, excluded.first.value - 1n),
      });
    }
    first = excluded.last.value + 1n;
  }
  if (first <= range.last.value) {
    remaining.push({ first: addressAt(family, first), last: range.last });
  }
  return remaining;
}

function isNextTo(a: AddressRange, b: AddressRange): boolean {
  return a.first.family === b.first.family && b.first.value <= a.last.value + 1n;
}

/** What a network's configuration excludes. */
export interface Excluded {
  /** What is excluded for a pod that has nothing reserved; `reserved` is part of it. */
  readonly exclusions: Exclusions;
  readonly reserved: readonly ReservedRange[];
}

/**
 * What is excluded for a pod.
 *
 * @param pod `undefined` where the call names none
 */
export function exclusionsFor(
  { exclusions, reserved }: Excluded,
  pod: PodName | undefined,
): Exclusions {
  return withoutThose(
    exclusions,
    pod === undefined ? [] : reserved.filter((entry) => entry.pod === pod),
  );
}

/** What is excluded for every pod that there could be. */
export function exclusionsForAll({ exclusions, reserved }: Excluded): Exclusions {
  return withoutThose(
    exclusions,
    reserved.filter(({ pod }) => pod !== undefined),
  );
}

function withoutThose(exclusions: Exclusions, own: readonly AddressRange[]): Exclusions {
  if (own.length === 0) return exclusions;
  const exceptions = makeExclusions(own);
  return exclusions.flatMap((range) => without(range, exceptions));
}

/**
 * The part of a range set that is reserved for a pod, which gets nothing else of this set.
 *
 * @param pod `undefined` where the call names none
 * @returns `undefined` where nothing is reserved for it
 */
export function partReservedFor(
  set: RangeSet,
  reserved: readonly ReservedRange[],
  pod: PodName | undefined,
): RangeSet | undefined {
  if (pod === undefined || reserved.length === 0) return undefined;
  const own = reserved.filter((entry) => entry.pod === pod);
  const [first, ...others] = set.flatMap((range) =>
    own.flatMap((entry) => {
      const part = intersectionOf(range, entry);
      return part === undefined ? [] : [{ ...range, ...part }];
    }),
  );
  return first && [first, ...others];
}

/** Who may have an address that is reserved, such as `default/db-0`; `nobody`. */
export function formatReservedFor({ pod }: ReservedRange): string {
  return pod ?? "nobody";
}

/** The entry that reserves an address; `undefined` where none does. */
export function reservedAt({ reserved }: Excluded, address: Address): ReservedRange | undefined {
  return reserved.find((entry) => isWithin(address, entry));
}
