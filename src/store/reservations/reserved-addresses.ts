/** Which addresses of a range set are reserved, by the names in the network's directory alone. */

import { type AddressRange, isWithin, offsetIn, parseAddress } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import type { RangeSet } from "../../ipam/range-set.ts";
import type { IsTaken } from "../../ipam/round-robin.ts";
import { isSystemError, type Names, type System } from "../../system/system.ts";
import type { Location } from "../files/paths.ts";

/**
 * How far each reserved address of a set is from the beginning of its range, in ascending order, by range. No list of names
 * and no object for each address is made of a full /16.
 *
 * @throws SystemError where the directory cannot be read; a missing one has no reservations
 */
export function reservedOffsets(
  system: System,
  location: Location,
  set: RangeSet,
): ReadonlyMap<Range, readonly number[]> {
  const { quads, others } = namesIn(system, location);
  const offsetsIn = (range: Range): readonly number[] => {
    if (range.family === 6) return othersWithin(range, others);
    const first = Number(range.first.value);
    const last = Number(range.last.value);
    const inRange = quads.slice(indexFrom(quads, first), indexFrom(quads, last + 1));
    return inRange.map((quad) => quad - first);
  };
  return new Map(set.map((range) => [range, offsetsIn(range)]));
}

/** Whether an address is reserved. It is quick for addresses in ascending order. */
export function takenIn(system: System, location: Location, set: RangeSet): IsTaken {
  const offsets = reservedOffsets(system, location, set);
  return (range) => {
    const taken = offsets.get(range) ?? [];
    let at = 0;
    return (offset) => {
      if ((taken[at - 1] ?? -1) >= offset) at = indexFrom(taken, offset);
      while ((taken[at] ?? offset) < offset) at++;
      return taken[at] === offset;
    };
  };
}

/** How many of a range's offsets are of addresses in a part of it. */
export function countWithin(
  offsets: readonly number[],
  range: Range,
  { first, last }: AddressRange,
): number {
  const end = indexFrom(offsets, offsetIn(range, last) + 1);
  return end - indexFrom(offsets, offsetIn(range, first));
}

function namesIn(system: System, { directory }: Location): Names {
  try {
    return system.listAddresses(directory);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return { quads: [], others: [] };
    throw error;
  }
}

function othersWithin(range: Range, names: readonly string[]): readonly number[] {
  const offsets: number[] = [];
  for (const name of names) {
    const address = parseAddress(name);
    if (address !== undefined && isWithin(address, range)) offsets.push(offsetIn(range, address));
  }
  return offsets.sort((a, b) => a - b);
}

/** Where the first number that is not less than `value` is in an ascending list. */
function indexFrom(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? value) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
