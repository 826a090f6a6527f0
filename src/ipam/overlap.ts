/** Which address ranges overlap. */

import { type AddressRange, compare, isBefore } from "./address.ts";

/**
 * The first two groups that overlap: the pair that comparing each group with all later ones would find first. It sorts
 * the ranges, since there may be a million.
 *
 * @param groups address ranges; those of one group do not overlap
 * @returns the indexes of the two; `undefined` where no two overlap
 */
export function firstOverlap(
  groups: readonly (readonly AddressRange[])[],
): readonly [earlier: number, later: number] | undefined {
  const sorted = groups
    .flatMap((ranges, group) => ranges.map((range) => ({ range, group })))
    .sort((a, b) => compare(a.range.first, b.range.first));
  const earlier = firstOverlapping(sorted);
  if (earlier === undefined) return undefined;
  const later = firstOverlappingWith(earlier, sorted);
  return later === undefined ? undefined : [earlier, later];
}

interface Member {
  readonly range: AddressRange;
  readonly group: number;
}

/** The first group that overlaps any other. */
function firstOverlapping(sorted: readonly Member[]): number | undefined {
  let first: number | undefined;
  let farthest: Member | undefined;
  for (const member of sorted) {
    // A range that overlaps any earlier one overlaps the one of them that ends last.
    if (farthest !== undefined && !isBefore(farthest.range.last, member.range.first)) {
      first = Math.min(first ?? member.group, farthest.group, member.group);
      if (!isBefore(farthest.range.last, member.range.last)) continue;
    }
    farthest = member;
  }
  return first;
}

/** The first of the other groups that overlaps `group`. */
function firstOverlappingWith(group: number, sorted: readonly Member[]): number | undefined {
  const own = sorted.filter((member) => member.group === group);
  let at = 0;
  let first: number | undefined;
  for (const { range, group: other } of sorted) {
    if (other === group) continue;
    // Those of one group end in the order in which they begin.
    while (isEndedBefore(own[at], range)) at++;
    const next = own[at];
    if (next !== undefined && !isBefore(range.last, next.range.first)) {
      first = Math.min(first ?? other, other);
    }
  }
  return first;
}

function isEndedBefore(member: Member | undefined, range: AddressRange): boolean {
  return member !== undefined && isBefore(member.range.last, range.first);
}
