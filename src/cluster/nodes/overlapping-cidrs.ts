/** Which CIDRs of a list are equal, and which contain others: sorted once, not compared in pairs. */

import { type Address, type AddressRange, compare } from "../../ipam/address.ts";

/** All CIDRs with the same addresses. Two CIDRs overlap only if they are equal, or one contains the other. */
export interface CidrGroup<Cidr extends AddressRange> {
  /** The CIDRs, in the order of the list. */
  readonly members: readonly Cidr[];
  /** The smallest larger CIDR that contains these. */
  readonly around: CidrGroup<Cidr> | undefined;
  /** The largest smaller CIDRs in these, by address. */
  readonly within: readonly CidrGroup<Cidr>[];
}

interface OpenGroup<Cidr extends AddressRange> extends CidrGroup<Cidr> {
  readonly members: Cidr[];
  readonly within: OpenGroup<Cidr>[];
}

/**
 * Groups CIDRs by their addresses.
 *
 * @param cidrs of either family
 * @returns by family and address; a CIDR comes before those that it contains
 */
export function groupCidrs<Cidr extends AddressRange>(
  cidrs: readonly Cidr[],
): readonly CidrGroup<Cidr>[] {
  const groups: OpenGroup<Cidr>[] = [];
  // The CIDRs that contain the present one, each in the one before.
  const open: OpenGroup<Cidr>[] = [];
  for (const cidr of [...cidrs].sort(byAddress)) {
    const previous = groups.at(-1)?.members[0];
    if (previous !== undefined && byAddress(previous, cidr) === 0) {
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

/** Orders CIDRs by family and first address; of CIDRs with the same first address the largest comes first. */
function byAddress(a: AddressRange, b: AddressRange): number {
  return compare(a.first, b.first) || compare(b.last, a.last);
}
