/** Which blocks of a network nobody uses. */

import { type AddressRange, addressAt, bitsOf } from "../../ipam/address.ts";
import { makeExclusions, without } from "../../ipam/exclusions.ts";
import type { Prefix } from "../../ipam/prefix.ts";

/**
 * Finds free blocks, from the lowest address on.
 *
 * @param region a whole network
 * @param nodeMask the prefix length of a block
 * @param used what is not free; may overlap, and lie outside the region
 * @returns gives the next free block at each call; `undefined` once there is none
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
  let place = 0n;
  return () => {
    for (let gap = gaps[index]; gap !== undefined; gap = gaps[++index]) {
      const from = gap.first.value > place ? gap.first.value : place;
      const first = ((from + size - 1n) / size) * size;
      if (first + size - 1n <= gap.last.value) {
        place = first + size;
        return { address: addressAt(family, first), length: nodeMask, mapped: false };
      }
    }
    return undefined;
  };
}
