/** Addresses, networks and range sets parsed from text. */

import { type Address, type AddressRange, parseAddress } from "../../src/ipam/address.ts";
import { type Prefix, parsePrefix } from "../../src/ipam/prefix.ts";
import { NO_GATEWAY, type RangeSpec } from "../../src/ipam/range.ts";
import { makeRangeSets, type RangeSet } from "../../src/ipam/range-set.ts";

/** @throws Error where the text is not an address */
export function address(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(`${text} is no address`);
  return parsed;
}

/** @throws Error where the text is not a network */
export function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (parsed === undefined) throw new Error(`${text} is not a network`);
  return parsed;
}

/** `first-last`, or one address. */
export function addressRange(text: string): AddressRange {
  const [first = "", last = first] = text.split("-");
  return { first: address(first), last: address(last) };
}

/** A range as it is written in a configuration. */
export interface WrittenRange {
  readonly subnet?: string;
  readonly rangeStart?: string;
  readonly rangeEnd?: string;
  readonly gateway?: string;
}

/** The range with its members parsed, at the place `path`. */
export function rangeSpec(written: WrittenRange, path = "ipam"): RangeSpec {
  const parsed = (text: string | undefined): Address | undefined =>
    (text && address(text)) || undefined;
  return {
    path,
    subnet: written.subnet === undefined ? undefined : prefix(written.subnet),
    rangeStart: parsed(written.rangeStart),
    rangeEnd: parsed(written.rangeEnd),
    gateway: written.gateway === NO_GATEWAY ? NO_GATEWAY : parsed(written.gateway),
  };
}

/** Checks the range sets that are written so. */
export function rangeSets(
  sets: readonly (readonly WrittenRange[])[],
  oneAddressPerFamily?: { readonly versionText: string },
): readonly RangeSet[] {
  const specs = sets.map((ranges, index) => ({
    path: `ipam.ranges[${index}]`,
    ranges: ranges.map((range, at) => rangeSpec(range, `ipam.ranges[${index}][${at}]`)),
  }));
  return makeRangeSets(specs, oneAddressPerFamily);
}

/** The set of these ranges. */
export function rangeSet(...ranges: readonly WrittenRange[]): RangeSet {
  const [set] = rangeSets([ranges]);
  if (set === undefined) throw new Error("one set was asked for");
  return set;
}
