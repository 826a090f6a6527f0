/** Addresses inside ranges that are never handed out. */

import { type Address, type AddressRange, addressAt, compare, isWithin } from "./address.ts";

/** Excluded address ranges, sorted, that neither touch nor overlap; made only by `makeExclusions`. */
export type Exclusions = readonly AddressRange[];

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
