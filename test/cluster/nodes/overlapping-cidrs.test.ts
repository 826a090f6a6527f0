import fc from "fast-check";
import { test } from "tap";
import { groupCidrs } from "../../../src/cluster/nodes/overlapping-cidrs.ts";
import { type AddressRange, addressAt, bitsOf, type Family } from "../../../src/ipam/address.ts";
import { addressRangeOf } from "../../../src/ipam/prefix.ts";
import { families } from "../../ipam/arbitraries.ts";

/** A network among the first 64 addresses of a family, so that many of them overlap. */
const networks: fc.Arbitrary<AddressRange> = fc
  .tuple(families, fc.nat(63), fc.nat(6))
  .map(([family, host, hostBits]) => network(family, BigInt(host), bitsOf(family) - hostBits));

function network(family: Family, value: bigint, length: number): AddressRange {
  return addressRangeOf({ address: addressAt(family, value), length, mapped: false });
}

function isSame(a: AddressRange, b: AddressRange): boolean {
  return contains(a, b) && contains(b, a);
}

function contains(a: AddressRange, b: AddressRange): boolean {
  return (
    a.first.family === b.first.family &&
    a.first.value <= b.first.value &&
    a.last.value >= b.last.value
  );
}

test("groups are those that comparing all pairs finds", async (t) => {
  fc.assert(
    fc.property(fc.array(networks, { maxLength: 40 }), (cidrs) => {
      const groups = groupCidrs(cidrs);
      t.equal(groups.flatMap(({ members }) => members).length, cidrs.length);
      for (const { members, around, within } of groups) {
        const [cidr] = members;
        if (cidr === undefined) throw new Error("a group has members");
        const larger = cidrs.filter((one) => contains(one, cidr) && !isSame(one, cidr));
        const smaller = cidrs.filter((one) => contains(cidr, one) && !isSame(one, cidr));
        // The same CIDRs, in the order of the list.
        t.strictSame(
          members,
          cidrs.filter((one) => isSame(one, cidr)),
        );
        // The smallest larger one.
        t.equal(around === undefined, larger.length === 0);
        t.ok(around?.members.every((one) => larger.includes(one)) ?? true);
        t.ok(larger.every((one) => contains(one, around?.members[0] ?? cidr)));
        // The largest smaller ones.
        t.strictSame(
          new Set(within.flatMap((group) => group.members)),
          new Set(
            smaller.filter(
              (one) => !smaller.some((two) => contains(two, one) && !isSame(two, one)),
            ),
          ),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test("CIDRs come by family and address, each before those that it contains", async (t) => {
  const cidrs = [
    network(6, 0n, 120),
    network(4, 16n, 29),
    network(4, 0n, 28),
    network(4, 0n, 26),
    network(4, 0n, 28),
  ];
  t.strictSame(
    groupCidrs(cidrs).map(({ members }) => members.map((cidr) => cidrs.indexOf(cidr))),
    [[3], [2, 4], [1], [0]],
  );
});
