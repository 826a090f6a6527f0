/** Which address ranges overlap. */

import { type AddressRange, compare, isBefore } from "./address.ts";

/**
 * The first two groups that overlap, as by comparing each group with all later ones.
 *
 * @param groups address ranges; those of one group do not overlap
 * @returns the indexes of the two; `undefined` where no two overlap
 */
export function firstOverlap(
  groups: readonly (readonly AddressRange[])[],
): readonly [earlier: number, later: number] | undefined {
  // There may be a million ranges, so each is compared with those only that reach beyond its first address.
  const sorted = groups
    .flatMap((group, at) => group.map(({ first, last }) => ({ first, last, at })))
    .sort((a, b) => compare(a.first, b.first));
  let open: typeof sorted = [];
  let found: readonly [number, number] | undefined;
  for (const range of sorted) {
    open = open.filter(({ last }) => !isBefore(last, range.first));
    for (const { at } of open) {
      const [earlier, later] = [Math.min(at, range.at), Math.max(at, range.at)];
      const isFirst =
        found === undefined || earlier < found[0] || (earlier === found[0] && later < found[1]);
      if (isFirst) found = [earlier, later];
    }
    // What overlaps a range overlaps one of an earlier group, too, that does not end before it.
    if (!open.some(({ at, last }) => at < range.at && !isBefore(last, range.last)))
      open.push(range);
  }
  return found;
}
