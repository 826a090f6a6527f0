/** The free CIDRs of a network. */

import { type AddressRange, addressAt, bitsOf } from "../../ipam/address.ts";
import { makeExclusions, without } from "../../ipam/exclusions.ts";
import type { Prefix } from "../../ipam/prefix.ts";

/**
 * Finds free CIDRs of one size, from the lowest address on.
 *
 * @param region the network to search
 * @param nodeMask the prefix length of the CIDRs to find
 * @param used networks in use; they may overlap, or lie outside the region
 * @returns a function that gives the next free CIDR, `undefined` when there are no more
 */
export function freeCidrs(
  region: AddressRange,
  nodeMask: number,
  used: readonly AddressRange[],
): () => Prefix | undefined {
  const { family } = region.first;
  const size = 2n ** BigInt(bitsOf(family) - nodeMask);
  const gaps = without(region, makeExclusions(used));
  let index = 0;
  let next = 0n;
  return () => {
    for (let gap = gaps[index]; gap !== undefined; gap = gaps[++index]) {
      const from = gap.first.value > next ? gap.first.value : next;
      const first = ((from + size - 1n) / size) * size;
      if (first + size - 1n <= gap.last.value) {
        next = first + size;
        return { address: addressAt(family, first), length: nodeMask, mapped: false };
      }
    }
    return undefined;
  };
}
