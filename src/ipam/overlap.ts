/** Which address ranges overlap. */

import { type AddressRange, compare, isBefore } from "./address.ts";

/**
 * The first two groups that overlap, by comparing each group with all later ones.
 *
 * @param groups address ranges; those of one group do not overlap
 * @returns the indexes of the two; `undefined` where no two overlap
 */
export function firstOverlap(
  groups: readonly (readonly AddressRange[])[],
): readonly [earlier: number, later: number] | undefined {
  // Usually there is one, and there may be a million.
  if (groups.length < 2 || !isAnyOverlap(groups.flat())) return undefined;
  for (const [earlier, group] of groups.entries()) {
    const later = groups.findIndex(
      (other, at) =>
        at > earlier && group.some((range) => other.some((one) => overlap(range, one))),
    );
    if (later >= 0) return [earlier, later];
  }
  return undefined;
}

/** In the order in which they begin, one that overlaps any earlier one overlaps the one before it, or that one does. */
function isAnyOverlap(ranges: readonly AddressRange[]): boolean {
  const sorted = ranges.toSorted((a, b) => compare(a.first, b.first));
  return sorted.slice(1).some(({ first }, at) => {
    const before = sorted[at];
    return before !== undefined && !isBefore(before.last, first);
  });
}

function overlap(a: AddressRange, b: AddressRange): boolean {
  return !isBefore(a.last, b.first) && !isBefore(b.last, a.first);
}
