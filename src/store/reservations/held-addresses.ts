/** Which addresses are held, by the names in the network's directory; no reservation is read. */

import { type AddressRange, isWithin, offsetIn, parseAddress } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { attempt, type Names } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";

/**
 * The addresses that are held at a time. No names are listed and no objects are made for a full /16: an address is how far it
 * is from the beginning of its range.
 */
export class HeldAddresses {
  readonly #names: Names;
  /** The IPv6 range that was asked about last, and its held addresses in ascending order. */
  #range: Range | undefined;
  #offsets: readonly number[] = [];

  /** @throws SystemError where the directory cannot be read; a missing one has no reservations */
  constructor({ system, directory }: NetworkFiles) {
    const nothing: Names = { quads: [], others: [] };
    this.#names = attempt(() => system.listAddresses(directory), nothing, "ENOENT");
  }

  /** The first address from `offset` on that is not held; it may be beyond the range. */
  nextFree(range: Range, offset: number): number {
    const [held, first] = this.#heldIn(range);
    const begin = indexFrom(held, first + offset);
    // Addresses in a row are all as far from their indices, so a full /16 is not gone through one by one.
    const distance = first + offset - begin;
    const end = firstIndex(begin, held.length, (at) => (held[at] ?? 0) - at > distance);
    return offset + end - begin;
  }

  /** How many addresses are held in parts of a range. */
  countIn(range: Range, parts: readonly AddressRange[]): number {
    const [held, first] = this.#heldIn(range);
    const countBefore = (offset: number): number => indexFrom(held, first + offset);
    return parts.reduce(
      (sum, { first, last }) =>
        sum + countBefore(offsetIn(range, last) + 1) - countBefore(offsetIn(range, first)),
      0,
    );
  }

  /** The numbers of the held addresses in ascending order, each once, and the number of the range's first address. */
  #heldIn(range: Range): readonly [held: readonly number[], first: number] {
    const { quads, others } = this.#names;
    if (range.family === 4) return [quads, Number(range.first.value)];
    if (range !== this.#range) {
      this.#range = range;
      this.#offsets = offsetsAmong(others, range);
    }
    return [this.#offsets, 0];
  }
}

function offsetsAmong(names: readonly string[], range: Range): readonly number[] {
  const offsets = names.flatMap((name) => {
    const address = parseAddress(name);
    return address !== undefined && isWithin(address, range) ? [offsetIn(range, address)] : [];
  });
  // An IPv6 address may have several names.
  return [...new Set(offsets)].sort((a, b) => a - b);
}

/** Where the first number that is not less than `value` is in an ascending list. */
function indexFrom(numbers: readonly number[], value: number): number {
  return firstIndex(0, numbers.length, (at) => (numbers[at] ?? value) >= value);
}

/** The first index that `holds`, as all after it do; `end` where none does. */
function firstIndex(begin: number, end: number, holds: (index: number) => boolean): number {
  let low = begin;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
