/** Which blocks of a list are the same, and which lie in others: sorted once and swept, never compared in pairs. */

import type { Address, AddressRange } from "../../ipam/address.ts";

/** All blocks with the same addresses. Two blocks share addresses only if they are the same or one lies in the other. */
export interface CidrGroup<Cidr extends AddressRange> {
  /** In the order of the list. */
  readonly members: readonly Cidr[];
  /** The smallest larger block that these lie in. */
  readonly around: CidrGroup<Cidr> | undefined;
  /** The largest smaller blocks that lie in these, by address. */
  readonly within: readonly CidrGroup<Cidr>[];
}

interface OpenGroup<Cidr extends AddressRange> extends CidrGroup<Cidr> {
  readonly members: Cidr[];
  readonly within: OpenGroup<Cidr>[];
}

/**
 * Groups blocks by their addresses.
 *
 * @param blocks whole networks, of either family
 * @returns by family and address; a block comes before those that lie in it
 */
export function groupCidrs<Cidr extends AddressRange>(
  cidrs: readonly Cidr[],
): readonly CidrGroup<Cidr>[] {
  const groups: OpenGroup<Cidr>[] = [];
  // The blocks that reach beyond the place that the sweep has come to, each in the one before.
  const open: OpenGroup<Cidr>[] = [];
  for (const cidr of [...cidrs].sort(byPlace)) {
    const previous = groups.at(-1)?.members[0];
    if (previous !== undefined && byPlace(previous, cidr) === 0) {
      groups.at(-1)?.members.push(cidr);
      continue;
    }
    while (open.length > 0 && !reaches(open.at(-1), cidr.first)) open.pop();
    const around = open.at(-1);
    const group = { members: [cidr], around, within: [] };
    around?.within.push(group);
    groups.push(group);
    open.push(group);
  }
  return groups;
}

function reaches<Cidr extends AddressRange>(
  group: OpenGroup<Cidr> | undefined,
  { family, value }: Address,
): boolean {
  const last = group?.members[0]?.last;
  return last !== undefined && last.family === family && last.value >= value;
}

/** By family and first address; of those that begin together the largest comes first. */
function byPlace(a: AddressRange, b: AddressRange): number {
  return (
    a.first.family - b.first.family ||
    compare(a.first.value, b.first.value) ||
    compare(b.last.value, a.last.value)
  );
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
