/** Which windows share addresses. */

import { compare, isBefore, type Window } from "./address.ts";

/**
 * The first two groups that share an address: the pair that comparing each group with all after it would find first.
 * By sorting, since there may be a million windows.
 *
 * @param groups windows, those of one group without overlap among themselves
 * @returns the places of the two in the list; `undefined` where no two share any
 */
export function firstOverlap(
  groups: readonly (readonly Window[])[],
): readonly [earlier: number, later: number] | undefined {
  const sorted = groups
    .flatMap((windows, group) => windows.map((window) => ({ window, group })))
    .sort((a, b) => compare(a.window.first, b.window.first));
  const earlier = firstSharer(sorted);
  if (earlier === undefined) return undefined;
  const later = firstSharerWith(earlier, sorted);
  return later === undefined ? undefined : [earlier, later];
}

interface Member {
  readonly window: Window;
  readonly group: number;
}

/** The first group that shares an address with any other. */
function firstSharer(sorted: readonly Member[]): number | undefined {
  let first: number | undefined;
  let farthest: Member | undefined;
  for (const member of sorted) {
    // Whoever overlaps one that begins before it, overlaps the one of those that ends last.
    if (farthest !== undefined && !isBefore(farthest.window.last, member.window.first)) {
      first = Math.min(first ?? member.group, farthest.group, member.group);
      if (!isBefore(farthest.window.last, member.window.last)) continue;
    }
    farthest = member;
  }
  return first;
}

/** The first of the other groups that shares an address with `group`. */
function firstSharerWith(group: number, sorted: readonly Member[]): number | undefined {
  const own = sorted.filter((member) => member.group === group);
  let at = 0;
  let first: number | undefined;
  for (const { window, group: other } of sorted) {
    if (other === group) continue;
    // Those of one group end in the order in which they begin.
    while (isEndedBefore(own[at], window)) at++;
    const next = own[at];
    if (next !== undefined && !isBefore(window.last, next.window.first)) {
      first = Math.min(first ?? other, other);
    }
  }
  return first;
}

function isEndedBefore(member: Member | undefined, window: Window): boolean {
  return member !== undefined && isBefore(member.window.last, window.first);
}
