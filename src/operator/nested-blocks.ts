/** Which blocks of a list are the same, and which lie in others: sorted once and swept, never compared in pairs. */

import type { Address, Window } from "../ipam/address.ts";

/** All blocks with the same addresses. Two blocks share addresses only if they are the same or one lies in the other. */
export interface BlockGroup<Block extends Window> {
  /** In the order of the list. */
  readonly members: readonly Block[];
  /** The smallest larger block that these lie in. */
  readonly around: BlockGroup<Block> | undefined;
  /** The largest smaller blocks that lie in these, by address. */
  readonly within: readonly BlockGroup<Block>[];
}

interface OpenGroup<Block extends Window> extends BlockGroup<Block> {
  readonly members: Block[];
  readonly within: OpenGroup<Block>[];
}

/**
 * Groups blocks by their addresses.
 *
 * @param blocks whole networks, of either family
 * @returns by family and address; a block comes before those that lie in it
 */
export function groupBlocks<Block extends Window>(
  blocks: readonly Block[],
): readonly BlockGroup<Block>[] {
  const groups: OpenGroup<Block>[] = [];
  // The blocks that reach beyond the place that the sweep has come to, each in the one before.
  const open: OpenGroup<Block>[] = [];
  for (const block of [...blocks].sort(byPlace)) {
    const previous = groups.at(-1)?.members[0];
    if (previous !== undefined && byPlace(previous, block) === 0) {
      groups.at(-1)?.members.push(block);
      continue;
    }
    while (open.length > 0 && !reaches(open.at(-1), block.first)) open.pop();
    const around = open.at(-1);
    const group = { members: [block], around, within: [] };
    around?.within.push(group);
    groups.push(group);
    open.push(group);
  }
  return groups;
}

function reaches<Block extends Window>(
  group: OpenGroup<Block> | undefined,
  { family, value }: Address,
): boolean {
  const last = group?.members[0]?.last;
  return last !== undefined && last.family === family && last.value >= value;
}

/** By family and first address; of those that begin together the largest comes first. */
function byPlace(a: Window, b: Window): number {
  return (
    a.first.family - b.first.family ||
    compare(a.first.value, b.first.value) ||
    compare(b.last.value, a.last.value)
  );
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
