import fc from "fast-check";
import { test } from "tap";
import {
  type Address,
  type AddressRange,
  addressAt,
  bitsOf,
  type Family,
  formatAddressRange,
  isWithin,
  next,
  sizeOf,
} from "../../src/ipam/address.ts";
import { isPodCidrOf, partOf, partsOf } from "../../src/ipam/partition.ts";
import { addressRangeOf, type Prefix } from "../../src/ipam/prefix.ts";
import type { Range } from "../../src/ipam/range.ts";
import { makeRangeSets } from "../../src/ipam/range-set.ts";
import { refusalOf } from "../cni/refusal.ts";
import { addresses, families } from "./arbitraries.ts";
import { addressRange, prefix, rangeSet, rangeSpec } from "./parsed.ts";

/** A network of a family with a prefix length in these bounds. */
function networks(family: Family, least: number, most: number): fc.Arbitrary<Prefix> {
  const bases = addresses.filter((address) => address.family === family);
  return fc.tuple(bases, fc.integer({ min: least, max: most })).map(([address, length]) => {
    const { first } = addressRangeOf({ address, length, mapped: false });
    return { address: first, length, mapped: false };
  });
}

/** A cluster CIDR cut into podCIDRs at random, in the order of their addresses: of one size, or of many. */
const clusters: fc.Arbitrary<readonly [Prefix, readonly Prefix[]]> = families.chain((family) => {
  const bits = bitsOf(family);
  const ofOneSize = fc.tuple(networks(family, 0, bits - 1), fc.integer({ min: 1, max: 6 }));
  const cut = fc.tuple(
    networks(family, 0, bits - 8),
    fc.array(fc.nat(63), { minLength: 1, maxLength: 40 }),
  );
  return fc.oneof(
    ofOneSize.map(([cluster, further]) => {
      let parts: readonly Prefix[] = [cluster];
      for (let at = 0; at < Math.min(further, bits - cluster.length); at++) {
        parts = parts.flatMap(halvesOf);
      }
      return [cluster, parts] as const;
    }),
    cut.map(([cluster, places]) => {
      const parts: Prefix[] = halvesOf(cluster);
      for (const place of places) {
        const at = place % parts.length;
        const part = parts[at];
        if (part !== undefined && part.length < bits) parts.splice(at, 1, ...halvesOf(part));
      }
      return [cluster, parts] as const;
    }),
  );
});

function halvesOf({ address, length }: Prefix): Prefix[] {
  const half = { address, length: length + 1, mapped: false };
  const { last } = addressRangeOf(half);
  return [half, { ...half, address: next(last) }];
}

/** Ranges of both families: whole subnets, and those with a start and an end of their own. */
const ranges: fc.Arbitrary<Range> = families.chain((family) =>
  networks(family, 0, bitsOf(family)).chain((subnet) => {
    const { first, last } = addressRangeOf(subnet);
    const offsets = fc.bigInt({ min: 0n, max: last.value - first.value });
    const bounds = fc.option(fc.tuple(offsets, offsets), { nil: undefined });
    return bounds.map((chosen) => {
      const [a, b] = chosen ?? [];
      const at = (offset: bigint | undefined): Address | undefined =>
        offset === undefined ? undefined : addressAt(family, first.value + offset);
      const [low, high] = a !== undefined && b !== undefined && b < a ? [b, a] : [a, b];
      const spec = { subnet, rangeStart: at(low), rangeEnd: at(high), gateway: undefined };
      const [set] = makeRangeSets([{ path: "r", ranges: [{ path: "r", ...spec }] }], undefined);
      if (set === undefined) throw new Error("one set was asked for");
      return set[0];
    });
  }),
);

test("the parts of podCIDRs that do not overlap do not overlap, and together are the range", async () => {
  fc.assert(
    fc.property(clusters, ranges, ([clusterCidr, podCidrs], range) => {
      let from = range.first.value;
      for (const podCidr of podCidrs) {
        const part = partOf(range, { clusterCidr, podCidr });
        if (part === undefined) continue;
        // None is empty; each begins where the one before has ended.
        if (part.first.value !== from || part.last.value < from) return false;
        if (part.first.family !== range.family || !isWithin(part.last, range)) return false;
        from = part.last.value + 1n;
      }
      return from === range.last.value + 1n;
    }),
  );
});

test("parts of podCIDRs of one size differ by one address at most, but for the subnet's ends", async () => {
  fc.assert(
    fc.property(clusters, ranges, ([clusterCidr, podCidrs], range) => {
      const sizes = podCidrs
        .filter(({ length }) => length === podCidrs[0]?.length)
        .map((podCidr) => partOf(range, { clusterCidr, podCidr }))
        .slice(1, -1)
        .map((part) => (part === undefined ? 0n : sizeOf(part)));
      return sizes.every((size) => sizes.every((other) => size - other <= 1n));
    }),
  );
});

const cluster = prefix("10.244.0.0/16");

const whole = { subnet: "192.168.0.0/20" };
const bounded = { ...whole, rangeStart: "192.168.0.20", rangeEnd: "192.168.3.231" };

for (const [podCidr, range, part] of [
  ["10.244.7.0/24", whole, "192.168.0.112-192.168.0.127"],
  // Without the network address, and without the broadcast address, which IPv6 does not have.
  ["10.244.0.0/24", whole, "192.168.0.1-192.168.0.15"],
  ["10.244.255.0/24", whole, "192.168.15.240-192.168.15.254"],
  ["10.244.255.0/24", { subnet: "fd00::/64" }, "fd00::ff00:0:0:0-fd00::ffff:ffff:ffff:ffff"],
  // Half a podCIDR.
  ["10.244.3.0/25", whole, "192.168.0.48-192.168.0.55"],
  ["10.244.0.0/24", bounded, "192.168.0.20-192.168.0.22"],
  ["10.244.1.0/24", bounded, "192.168.0.23-192.168.0.26"],
  // The network address alone, and nothing at all.
  ["10.244.0.0/24", { subnet: "192.168.0.0/24" }, undefined],
  ["10.244.2.0/24", { subnet: "192.168.0.0/30" }, undefined],
  ["10.244.128.0/17", { subnet: "192.168.0.0/31" }, "192.168.0.1-192.168.0.1"],
] as const) {
  test(`the part for ${podCidr} of ${Object.values(range).join(" ")} is ${part ?? "empty"}`, async (t) => {
    const [parsed] = rangeSet(range);
    const found = partOf(parsed, { clusterCidr: cluster, podCidr: prefix(podCidr) });
    t.equal(found && formatAddressRange(found), part);
  });
}

test("the range as configured, its gateway and its prefix length stay with the part", async (t) => {
  const [range] = rangeSet({ subnet: "192.168.0.0/20" });
  const part = partOf(range, { clusterCidr: cluster, podCidr: prefix("10.244.7.0/24") });
  t.match(part, { prefixLength: 20, gateway: range.gateway });
  t.equal(part?.whole && formatAddressRange(part.whole), "192.168.0.1-192.168.15.254");
});

test("a podCIDR is a smaller network in the cluster CIDR", async (t) => {
  const isPodCidr = (text: string): boolean => isPodCidrOf(prefix(text), cluster);
  for (const text of ["10.244.0.0/17", "10.244.255.255/32"]) t.equal(isPodCidr(text), true, text);
  for (const text of ["10.244.0.0/16", "10.0.0.0/8", "10.245.0.0/24", "fd00::/64"]) {
    t.equal(isPodCidr(text), false, text);
  }
});

test("a part without a usable address is refused, with its path and what is in it", async (t) => {
  const subnets = ["192.168.0.0/20", "172.16.0.0/24"];
  const sets = subnets.map((subnet) => rangeSet({ subnet }));
  const specs = subnets.map((subnet, at) => {
    const path = `ipam.ranges[${at}]`;
    return { path, ranges: [rangeSpec({ subnet }, `${path}[0]`)] };
  });
  const refused = (podCidr: string, excluded: readonly AddressRange[] = []): string => {
    const partition = { clusterCidr: cluster, podCidr: prefix(podCidr), source: "/subnet.env" };
    const { code, message, details } = refusalOf(() => partsOf(sets, specs, excluded, partition));
    t.equal(code, 999);
    return `${message}; ${details}`;
  };
  t.match(
    refused("10.244.0.0/24"),
    "no address of range 172.16.0.1-172.16.0.254 for this node; its part has none: podCIDR 10.244.0.0/24 (/subnet.env) of the cluster CIDR 10.244.0.0/16; expected a larger range at ipam.ranges[1][0]",
  );
  t.match(
    refused("10.244.1.0/24"),
    "its part is 172.16.0.1-172.16.0.1, which are the gateway or excluded",
  );
  t.match(
    refused("10.244.2.0/24", [addressRange("192.168.0.32-192.168.0.47")]),
    /^no address of range 192\.168\.0\.1-.* is 192\.168\.0\.32-192\.168\.0\.47, which .*\[0\]\[0\]/,
  );
});
