/** Which addresses are reserved, by the names in the network's directory; no reservation is read. */

import { type AddressRange, isWithin, offsetIn, parseAddress } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { attempt, type Names } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";

/**
 * The addresses that are reserved at a time. No list of names and no object for each address is made of a full /16; an
 * address is how far it is from the beginning of its range.
 */
export class ReservedAddresses {
  readonly #names: Names;
  /** The range that was asked about last, its reserved addresses in ascending order, and where among them. */
  #range: Range | undefined;
  #offsets: readonly number[] = [];
  #at = 0;

  /** @throws SystemError where the directory cannot be read; a missing one has no reservations */
  constructor({ system, directory }: NetworkFiles) {
    const nothing: Names = { quads: [], others: [] };
    this.#names = attempt(() => system.listAddresses(directory), nothing, "ENOENT");
  }

  /** Whether an address is reserved. It is quick for the addresses of one range in ascending order. */
  has(range: Range, offset: number): boolean {
    if (range !== this.#range) {
      this.#range = range;
      this.#offsets = this.#offsetsIn(range);
      this.#at = 0;
    }
    const offsets = this.#offsets;
    if ((offsets[this.#at - 1] ?? -1) >= offset) this.#at = indexFrom(offsets, offset);
    while ((offsets[this.#at] ?? offset) < offset) this.#at++;
    return offsets[this.#at] === offset;
  }

  /** How many addresses are reserved in parts of a range. */
  countIn(range: Range, parts: readonly AddressRange[]): number {
    const offsets = this.#offsetsIn(range);
    const countBefore = (offset: number): number => indexFrom(offsets, offset);
    return parts.reduce(
      (sum, { first, last }) =>
        sum + countBefore(offsetIn(range, last) + 1) - countBefore(offsetIn(range, first)),
      0,
    );
  }

  #offsetsIn(range: Range): readonly number[] {
    const { quads, others } = this.#names;
    if (range.family === 6) return offsetsAmong(others, range);
    const first = Number(range.first.value);
    const last = Number(range.last.value);
    const inRange = quads.slice(indexFrom(quads, first), indexFrom(quads, last + 1));
    return inRange.map((quad) => quad - first);
  }
}

function offsetsAmong(names: readonly string[], range: Range): readonly number[] {
  const offsets = names.flatMap((name) => {
    const address = parseAddress(name);
    return address !== undefined && isWithin(address, range) ? [offsetIn(range, address)] : [];
  });
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
