/** Random addresses, address ranges and range sets, for the laws that hold for all of them. */

import fc from "fast-check";
import {
  type Address,
  type AddressRange,
  addressAt,
  bitsOf,
  type Family,
} from "../../src/ipam/address.ts";
import { parsePrefix } from "../../src/ipam/prefix.ts";
import { makeRangeSets, type RangeSet } from "../../src/ipam/range-set.ts";

export const families = fc.constantFrom<Family>(4, 6);

/** Any address; those of IPv6 often have runs of zeros, and none is an IPv4-mapped one. */
export const addresses: fc.Arbitrary<Address> = families.chain((family) => {
  const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), {
    minLength: bitsOf(family) / 16,
    maxLength: bitsOf(family) / 16,
  });
  return groups
    .map((all) => all.reduce((value, group) => (value << 16n) | BigInt(group), 0n))
    .filter((value) => family === 4 || value >> 32n !== 0xffffn)
    .map((value) => addressAt(family, value));
});

/** Ranges of a few addresses that lie close together, so that they often touch or overlap. */
export function smallAddressRanges(family: Family): fc.Arbitrary<AddressRange> {
  return fc.tuple(fc.nat(40), fc.nat(12)).map(([first, length]) => ({
    first: addressAt(family, BigInt(first)),
    last: addressAt(family, BigInt(first + length)),
  }));
}

/** Sets of one to three small ranges with gateways inside or outside, written `10.0.<n>.0/27`. */
export const smallRangeSets: fc.Arbitrary<RangeSet> = fc
  .uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 })
  .chain((subnets) =>
    fc.tuple(
      ...subnets.map((third) =>
        fc.tuple(fc.nat(31), fc.nat(31), fc.nat(40)).map(([a, b, gateway]) => {
          const at = (host: number): Address =>
            addressAt(4, 0x0a000000n + BigInt(third * 256 + host));
          return {
            path: `ranges[${third}]`,
            subnet: parsePrefix(`10.0.${third}.0/27`),
            rangeStart: at(Math.min(a, b)),
            rangeEnd: at(Math.max(a, b)),
            gateway: at(gateway),
          };
        }),
      ),
    ),
  )
  .map((ranges) => {
    const [set] = makeRangeSets([{ path: "ranges", ranges }], undefined);
    if (set === undefined) throw new Error("one set was asked for");
    return set;
  });
