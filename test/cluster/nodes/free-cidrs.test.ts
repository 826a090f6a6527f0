import fc from "fast-check";
import { test } from "tap";
import { freeCidrs } from "../../../src/cluster/nodes/free-cidrs.ts";
import { type AddressRange, addressAt } from "../../../src/ipam/address.ts";
import {
  addressRangeOf,
  formatPrefix,
  type Prefix,
  parsePrefix,
} from "../../../src/ipam/prefix.ts";
import { smallAddressRanges } from "../../ipam/arbitraries.ts";

function networkOf(text: string): AddressRange {
  const prefix = parsePrefix(text);
  if (prefix === undefined) throw new Error(`${text} is not a network`);
  return addressRangeOf(prefix);
}

function all(next: () => Prefix | undefined): string[] {
  const found: string[] = [];
  for (let cidr = next(); cidr !== undefined; cidr = next()) found.push(formatPrefix(cidr));
  return found;
}

test("free CIDRs come by address, each on a boundary of its size", async (t) => {
  const used = ["10.244.0.0/24", "10.244.1.128/25", "10.244.2.0/23", "10.99.0.0/16"].map(networkOf);
  const next = freeCidrs(networkOf("10.244.0.0/21"), 24, used);
  t.strictSame(all(next), ["10.244.4.0/24", "10.244.5.0/24", "10.244.6.0/24", "10.244.7.0/24"]);
  t.equal(next(), undefined, "and no more");
});

test("there is none in a network that is full, or smaller than the CIDR", async (t) => {
  t.strictSame(all(freeCidrs(networkOf("10.0.0.0/24"), 24, [networkOf("10.0.0.0/8")])), []);
  t.strictSame(all(freeCidrs(networkOf("10.0.0.0/25"), 24, [])), []);
});

test("an IPv6 network with billions of CIDRs is searched at once", async (t) => {
  const next = freeCidrs(networkOf("fd00::/16"), 64, [networkOf("fd00::/17")]);
  const first = next();
  t.equal(first && formatPrefix(first), "fd00:8000::/64");
});

test("the free CIDRs are all those that overlap none in use", async (t) => {
  fc.assert(
    fc.property(
      fc.array(smallAddressRanges(4)),
      fc.integer({ min: 27, max: 32 }),
      (used, length) => {
        const size = 1n << BigInt(32 - length);
        const expected: string[] = [];
        for (let first = 0n; first < 64n; first += size) {
          const isUsed = used.some(
            (one) => one.first.value < first + size && one.last.value >= first,
          );
          if (!isUsed) {
            expected.push(formatPrefix({ address: addressAt(4, first), length, mapped: false }));
          }
        }
        t.strictSame(all(freeCidrs(networkOf("0.0.0.0/26"), length, used)), expected);
      },
    ),
  );
});
