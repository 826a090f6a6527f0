/** The order in which the addresses of a range set are tried. */

import {
  type Address,
  type AddressRange,
  addressAt,
  isWithin,
  next,
  offsetIn,
  sizeOf,
} from "./address.ts";
import { type Exclusions, without } from "./exclusions.ts";
import { isGateway, type Range } from "./range.ts";
import type { RangeSet } from "./range-set.ts";

/** An address that may be handed out, with the range it belongs to. */
export interface Candidate {
  readonly address: Address;
  readonly range: Range;
}

/** The addresses that are known to be taken, each by its distance from the beginning of its range. */
interface TakenAddresses {
  /** The first address from `offset` on that is not taken; it may be beyond the range. */
  nextFree(range: Range, offset: number): number;
}

/**
 * All addresses of a set that may be handed out, each once, from the one after the cursor on and round
 * through all ranges, so that the cursor's own address comes last. Gateways and excluded addresses are skipped.
 *
 * @param cursor the address handed out last; one outside all ranges counts as none
 * @param taken is asked about each address; those that it knows are skipped
 */
export function* candidates(
  set: RangeSet,
  cursor: Address | undefined,
  exclusions: Exclusions,
  taken?: TakenAddresses,
): Generator<Candidate, void> {
  for (const { range, part } of roundFrom(set, cursor)) {
    for (const usable of without(part, exclusions)) {
      const start = offsetIn(range, usable.first);
      const length = offsetIn(usable, usable.last) + 1;
      const gateway = range.gateway && offsetIn(usable, range.gateway);
      for (let at = 0; at < length; at++) {
        if (at === gateway) continue;
        if (taken !== undefined) at = taken.nextFree(range, start + at) - start;
        if (at >= length) break;
        const address = addressAt(range.family, usable.first.value + BigInt(at));
        if (!isGateway(address, range)) yield { address, range };
      }
    }
  }
}

/** How many addresses of a range can be handed out. */
export function capacityOf(range: Range, exclusions: Exclusions): bigint {
  const usable = without(range, exclusions);
  const size = usable.reduce((total, part) => total + sizeOf(part), 0n);
  const { gateway } = range;
  return gateway !== undefined && usable.some((part) => isWithin(gateway, part)) ? size - 1n : size;
}

/** Whether a range set has no address that may be handed out, used or not. */
export function isEmptySet(set: RangeSet, exclusions: Exclusions): boolean {
  return set.every((range) => capacityOf(range, exclusions) === 0n);
}

interface Segment {
  readonly range: Range;
  readonly part: AddressRange;
}

/** The parts of the set in the order of allocation; the cursor's range is split in two. */
function roundFrom(set: RangeSet, cursor: Address | undefined): readonly Segment[] {
  const whole = set.map((range) => ({ range, part: range }));
  const at = cursor === undefined ? -1 : set.findIndex((range) => isWithin(cursor, range));
  const range = set[at];
  if (cursor === undefined || range === undefined) return whole;
  const upToCursor = { range, part: { first: range.first, last: cursor } };
  const afterCursor = { range, part: { first: next(cursor), last: range.last } };
  return [afterCursor, ...whole.slice(at + 1), ...whole.slice(0, at), upToCursor];
}
