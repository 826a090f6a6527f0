import { test } from "tap";
import {
  cidrsTakenBy,
  firstPodCidrs,
  podCidrCount,
} from "../../../src/cluster/nodes/pod-cidr-count.ts";
import { type AddressRange, formatAddressRange } from "../../../src/ipam/address.ts";
import { addressRangeOf, type Prefix, parsePrefix } from "../../../src/ipam/prefix.ts";

function prefix(cidr: string): Prefix {
  const parsed = parsePrefix(cidr);
  if (parsed === undefined) throw new Error(`${cidr} is not a network`);
  return parsed;
}

function ranges(...cidrs: readonly string[]): readonly AddressRange[] {
  return cidrs.map((cidr) => addressRangeOf(prefix(cidr)));
}

test("podCIDRs that overlap the service CIDR are not counted", (t) => {
  const cases: readonly (readonly [cluster: string, services: readonly string[], count: bigint])[] =
    [
      ["10.0.0.0/8", [], 65536n],
      ["10.0.0.0/8", ["10.96.0.0/12"], 61440n],
      ["10.244.0.0/16", ["10.96.0.0/12"], 256n],
      ["10.244.0.0/16", ["10.244.7.0/26"], 255n],
      ["10.244.0.0/16", ["10.0.0.0/8"], 0n],
      ["10.244.0.0/16", ["fd00::/108", "10.244.0.0/17"], 128n],
    ];
  for (const [cluster, services, count] of cases) {
    const networks = { cluster: prefix(cluster), serviceCidrs: ranges(...services) };
    t.equal(podCidrCount(networks, networks.cluster.length, 24), count, `${cluster} ${services}`);
  }
  t.equal(podCidrCount({ cluster: undefined, serviceCidrs: [] }, 16, 24), 256n);
  t.end();
});

test("a CIDR that two ranges overlap is taken once", (t) => {
  const [region] = ranges("10.0.0.0/16");
  if (region === undefined) throw new Error("a region was written");
  t.equal(cidrsTakenBy(ranges("10.0.0.0/26", "10.0.0.128/25", "10.0.2.0/23"), region, 24), 3n);
  t.end();
});

test("the first podCIDRs lie beside the service CIDR", (t) => {
  const first = firstPodCidrs(prefix("10.0.0.0/16"), ranges("10.0.1.0/25"), 24, 3n);
  t.strictSame(first.map(formatAddressRange), ["10.0.0.0-10.0.0.255", "10.0.2.0-10.0.3.255"]);
  t.end();
});
