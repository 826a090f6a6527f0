/** Which address ranges overlap. */

import { type Address, type AddressRange, compare, isBefore, overlaps } from "./address.ts";

/**
 * The first two groups that overlap, as by comparing each group with all later ones.
 *
 * @param groups address ranges; those of one group do not overlap
 * @returns the indexes of the two; `undefined` where no two overlap
 */
export function firstOverlap(
  groups: readonly (readonly AddressRange[])[],
): readonly [earlier: number, later: number] | undefined {
  // Most networks have one group, which has nothing to compare: sorting it would be a fiftieth of an ADD.
  if (groups.length < 2) return undefined;
  // There may be a million ranges, so each is compared with those beside it in the order of addresses.
  const sorted = groups
    .flatMap((group, at) => group.map(({ first, last }) => ({ first, last, at })))
    .sort((a, b) => compare(a.first, b.first));
  let earlier: number | undefined;
  let end: Address | undefined;
  for (const [place, { first, last, at }] of sorted.entries()) {
    const next = sorted[place + 1];
    const hasOverlap =
      (end !== undefined && !isBefore(end, first)) ||
      (next !== undefined && !isBefore(last, next.first));
    if (hasOverlap && (earlier === undefined || at < earlier)) earlier = at;
    if (end === undefined || isBefore(end, last)) end = last;
  }
  if (earlier === undefined) return undefined;
  const ranges = groups[earlier] ?? [];
  const later = groups.findIndex(
    (group, at) =>
      at > earlier && group.some((member) => ranges.some((range) => overlaps(member, range))),
  );
  return [earlier, later];
}
