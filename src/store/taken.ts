/** Which addresses of a range set are reserved, by the names in the network's directory alone. */

import { type AddressRange, isWithin, offsetIn, parseAddress } from "../ipam/address.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import type { IsTaken } from "../ipam/round-robin.ts";
import type { System } from "../system/system.ts";
import type { Location } from "./location.ts";
import { eachName } from "./reservations.ts";

/** Addresses further from the beginning of their range are not noted; all of a /8 are. */
const MOST_ADDRESSES = 2 ** 24;

/** Reads the names once: a bit for each address, since a /16 would make 65 000 objects. */
export function takenIn(system: System, location: Location, set: RangeSet): IsTaken {
  const bits = new Map<AddressRange, Uint8Array>();
  for (const range of set) {
    const size = Math.min(offsetIn(range, range.last) + 1, MOST_ADDRESSES);
    bits.set(range, new Uint8Array(Math.ceil(size / 8)));
  }
  eachName(system, location, (name) => {
    const address = parseAddress(name);
    if (address === undefined) return;
    for (const [range, taken] of bits) {
      if (!isWithin(address, range)) continue;
      const offset = offsetIn(range, address);
      if (offset < MOST_ADDRESSES) taken[offset >> 3] = byteAt(taken, offset) | bitOf(offset);
    }
  });
  return (range, offset) => {
    const taken = bits.get(range);
    if (taken === undefined || offset >= MOST_ADDRESSES) return false;
    return (byteAt(taken, offset) & bitOf(offset)) !== 0;
  };
}

function byteAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset >> 3] ?? 0;
}

function bitOf(offset: number): number {
  return 1 << (offset & 7);
}
