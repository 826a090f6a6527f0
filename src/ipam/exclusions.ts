/** Addresses inside ranges that are never handed out. */

import { type Address, addressAt, compare, isBefore, isWithin, type Window } from "./address.ts";

/** Windows in ascending order that neither touch nor overlap; made only by `makeExclusions`. */
export type Exclusions = readonly Window[];

/** Sorts and joins windows, so that each address is excluded once. */
export function makeExclusions(windows: readonly Window[]): Exclusions {
  const joined: Window[] = [];
  for (const window of [...windows].sort((a, b) => compare(a.first, b.first))) {
    const last = joined.at(-1);
    if (last !== undefined && isNextTo(last, window)) {
      const end = last.last.value > window.last.value ? last.last : window.last;
      joined[joined.length - 1] = { first: last.first, last: end };
    } else {
      joined.push(window);
    }
  }
  return joined;
}

export function isExcluded(address: Address, exclusions: Exclusions): boolean {
  let low = 0;
  let high = exclusions.length;
  // Ascending and apart, so halving finds the only window that can hold the address.
  while (low < high) {
    const middle = (low + high) >> 1;
    const window = exclusions[middle];
    if (window === undefined || isWithin(address, window)) return window !== undefined;
    if (isBefore(window.last, address)) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** What remains of a window, in ascending order, once the exclusions are taken out. */
export function without(window: Window, exclusions: Exclusions): readonly Window[] {
  const { family } = window.first;
  const remaining: Window[] = [];
  let first = window.first.value;
  for (const excluded of exclusions) {
    if (excluded.first.family !== family || excluded.last.value < first) continue;
    if (excluded.first.value > window.last.value) break;
    if (excluded.first.value > first) {
      remaining.push({
        first: addressAt(family, first),
        last: addressAt(family, excluded.first.value - 1n),
      });
    }
    first = excluded.last.value + 1n;
  }
  if (first <= window.last.value) {
    remaining.push({ first: addressAt(family, first), last: window.last });
  }
  return remaining;
}

function isNextTo(a: Window, b: Window): boolean {
  return a.first.family === b.first.family && b.first.value <= a.last.value + 1n;
}
