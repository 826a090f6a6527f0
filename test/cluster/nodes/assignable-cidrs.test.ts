import fc from "fast-check";
import { test } from "tap";
import { countAssignable, freeCidrs } from "../../../src/cluster/nodes/assignable-cidrs.ts";
import { type AddressRange, addressAt, bitsOf, type Family } from "../../../src/ipam/address.ts";
import {
  addressRangeOf,
  formatPrefix,
  type Prefix,
  parsePrefix,
} from "../../../src/ipam/prefix.ts";
import { seed } from "../../harness/seed.ts";
import { families, smallAddressRanges } from "../../ipam/arbitraries.ts";

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

/** A network among the first 4096 addresses of a family. */
function networksOf(family: Family): fc.Arbitrary<Prefix> {
  const bits = bitsOf(family);
  return fc.tuple(fc.nat(1023), fc.integer({ min: bits - 12, max: bits })).map(([host, length]) => {
    const all = { address: addressAt(family, BigInt(host) << 2n), length, mapped: false };
    return { ...all, address: addressRangeOf(all).first };
  });
}

/** A cluster CIDR with its node mask, and networks that occupy podCIDRs of it. */
const pools = families.chain((family) =>
  fc.record({
    cluster: networksOf(family),
    nodeBits: fc.nat(8),
    taken: fc.array(fc.oneof(networksOf(family), families.chain(networksOf)), { maxLength: 4 }),
  }),
);

test("what is left is what a bitmap of the podCIDRs has left", async (t) => {
  fc.assert(
    fc.property(pools, ({ cluster, nodeBits, taken }) => {
      const bits = bitsOf(cluster.address.family);
      const nodeMask = Math.min(bits, cluster.length + nodeBits);
      const bitmap = new Array<boolean>(2 ** (nodeMask - cluster.length)).fill(false);
      for (const network of taken) occupy(bitmap, cluster, nodeMask, network);
      const free = bitmap.flatMap((isTaken, index) => (isTaken ? [] : [index]));
      const region = addressRangeOf(cluster);
      const ranges = taken.map(addressRangeOf);
      t.equal(countAssignable(region, nodeMask, ranges), BigInt(free.length));
      t.strictSame(
        all(freeCidrs(region, nodeMask, ranges)),
        free.map((index) => formatPrefix(cidrAt(cluster, nodeMask, index))),
      );
    }),
    { numRuns: 2000, seed },
  );
});

/** `Occupy` of kubernetes' cidrset, by its steps: the indices of the first and last address, and all between. */
function occupy(bitmap: boolean[], cluster: Prefix, nodeMask: number, network: Prefix): void {
  const { family, value } = cluster.address;
  if (network.address.family !== family) return;
  const isInside = hasPrefix(network.address.value, cluster);
  if (!isInside && !hasPrefix(value, network)) return;
  const indexOf = (address: bigint): number =>
    Number((value ^ address) >> BigInt(bitsOf(family) - nodeMask));
  const { first, last } = addressRangeOf(network);
  const isSmaller = cluster.length < network.length;
  const begin = isSmaller ? indexOf(first.value) : 0;
  const end = isSmaller ? indexOf(last.value) : bitmap.length - 1;
  bitmap.fill(true, begin, end + 1);
}

function hasPrefix(value: bigint, { address, length }: Prefix): boolean {
  const hostBits = BigInt(bitsOf(address.family) - length);
  return value >> hostBits === address.value >> hostBits;
}

function cidrAt({ address }: Prefix, nodeMask: number, index: number): Prefix {
  const { family, value } = address;
  const first = value + (BigInt(index) << BigInt(bitsOf(family) - nodeMask));
  return { address: addressAt(family, first), length: nodeMask, mapped: false };
}

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
