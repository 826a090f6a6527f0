/**
 * The podCIDRs that kube-controller-manager can assign, counted by its own rule.
 *
 * It divides the cluster CIDR into podCIDRs of the node mask. The service CIDRs, and the podCIDR of each node, occupy all
 * podCIDRs that they have an address in common with: one or several if they lie in the cluster CIDR, all if they contain
 * it, none otherwise (kubernetes, pkg/controller/nodeipam/ipam: `filterOutServiceRange` and `occupyCIDRs` of
 * range_allocator.go, `Occupy` of cidrset/cidr_set.go).
 */

import {
  type AddressRange,
  addressAt,
  bitsOf,
  type Family,
  intersectionOf,
  sizeOf,
} from "../../ipam/address.ts";
import { makeExclusions, without } from "../../ipam/exclusions.ts";
import type { Prefix } from "../../ipam/prefix.ts";

/**
 * The address ranges of a network whose podCIDRs are not occupied, by address; each is made of whole podCIDRs.
 *
 * @param region the network that is divided; none of it is assignable if it is smaller than a podCIDR
 * @param nodeMask the prefix length of the podCIDRs
 * @param occupied address ranges in use; they may overlap, or lie outside the network
 */
export function assignableRanges(
  region: AddressRange,
  nodeMask: number,
  occupied: readonly AddressRange[],
): readonly AddressRange[] {
  const { family } = region.first;
  const size = cidrSize(family, nodeMask);
  if (sizeOf(region) < size) return [];
  const podCidrs = occupied.flatMap((range) => {
    const part = intersectionOf(region, range);
    if (part === undefined) return [];
    const first = addressAt(family, (part.first.value / size) * size);
    const last = addressAt(family, (part.last.value / size + 1n) * size - 1n);
    return [{ first, last }];
  });
  return without(region, makeExclusions(podCidrs));
}

/** The number of podCIDRs that are not occupied; the parameters are those of `assignableRanges`. */
export function countAssignable(
  region: AddressRange,
  nodeMask: number,
  occupied: readonly AddressRange[],
): bigint {
  return countCidrs(assignableRanges(region, nodeMask, occupied), nodeMask);
}

/** The number of CIDRs of a prefix length in address ranges that are made of whole ones. */
export function countCidrs(ranges: readonly AddressRange[], length: number): bigint {
  return ranges.reduce(
    (sum, range) => sum + sizeOf(range) / cidrSize(range.first.family, length),
    0n,
  );
}

/**
 * The lowest podCIDRs that are not occupied, which kube-controller-manager assigns first, as address ranges.
 *
 * @param ranges made of whole podCIDRs, by address
 * @param count how many podCIDRs
 */
export function lowestCidrs(
  ranges: readonly AddressRange[],
  nodeMask: number,
  count: bigint,
): readonly AddressRange[] {
  let left = count;
  return ranges.flatMap((range) => {
    const { first, last } = range;
    const taken = left * cidrSize(first.family, nodeMask);
    if (taken === 0n) return [];
    left -= countCidrs([range], nodeMask);
    if (left >= 0n) return [range];
    left = 0n;
    return [{ first, last: addressAt(last.family, first.value + taken - 1n) }];
  });
}

/**
 * Finds podCIDRs that are not occupied, from the lowest address on; the parameters are those of `assignableRanges`.
 *
 * @returns a function that gives the next one, `undefined` when there are no more
 */
export function freeCidrs(
  region: AddressRange,
  nodeMask: number,
  occupied: readonly AddressRange[],
): () => Prefix | undefined {
  const { family } = region.first;
  const size = cidrSize(family, nodeMask);
  const ranges = assignableRanges(region, nodeMask, occupied);
  let index = 0;
  let next = 0n;
  return () => {
    for (let range = ranges[index]; range !== undefined; range = ranges[++index]) {
      const first = range.first.value > next ? range.first.value : next;
      if (first > range.last.value) continue;
      next = first + size;
      return { address: addressAt(family, first), length: nodeMask, mapped: false };
    }
    return undefined;
  };
}

function cidrSize(family: Family, length: number): bigint {
  return 2n ** BigInt(bitsOf(family) - length);
}
