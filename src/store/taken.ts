/** Which addresses of a range set are reserved, by the names in the network's directory alone. */

import { type AddressRange, isWithin, offsetIn, parseAddress } from "../ipam/address.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import type { IsTaken } from "../ipam/round-robin.ts";
import type { System } from "../system/system.ts";
import type { Location } from "./location.ts";
import { eachName } from "./reservations.ts";

/** Addresses in a word of bits. */
const WORD = 32;

/** Reads the names once. Each address is a bit: a full /16 would make 65 000 objects. */
export function takenIn(system: System, location: Location, set: RangeSet): IsTaken {
  const words = new Map<AddressRange, Map<number, number>>();
  for (const range of set) words.set(range, new Map());
  eachName(system, location, (name) => {
    const address = parseAddress(name);
    if (address === undefined) return;
    for (const [range, taken] of words) {
      if (!isWithin(address, range)) continue;
      const offset = offsetIn(range, address);
      const word = Math.floor(offset / WORD);
      taken.set(word, (taken.get(word) ?? 0) | bitOf(offset));
    }
  });
  return (range, offset) => {
    const word = words.get(range)?.get(Math.floor(offset / WORD)) ?? 0;
    return (word & bitOf(offset)) !== 0;
  };
}

function bitOf(offset: number): number {
  return 1 << (offset % WORD);
}
