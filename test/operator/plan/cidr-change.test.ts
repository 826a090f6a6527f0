import fc from "fast-check";
import { test } from "tap";
import { addressRangeOf, parsePrefix } from "../../../src/ipam/prefix.ts";
import { changeOf, changeProblems, type Settings } from "../../../src/operator/plan/cidr-change.ts";
import { seed } from "../../faults/seed.ts";

function settings(cluster: string, nodeMask: number): Settings {
  const prefix = parsePrefix(cluster);
  if (prefix === undefined) throw new Error(`${cluster} is no network`);
  return {
    family: prefix.address.family,
    cluster: { ...prefix, address: addressRangeOf(prefix).first },
    nodeMask,
  };
}

function counts(was: Settings, now: Settings, nodes: bigint) {
  const { keeping, otherSize, outside, cidrsTaken, cidrsFree } = changeOf(was, now, nodes);
  return { keeping, otherSize, outside, cidrsTaken, cidrsFree };
}

test("from /16 with /24 to /12 with /16: all nodes are in one new CIDR, fifteen are free", (t) => {
  t.strictSame(counts(settings("10.244.0.0/16", 24), settings("10.240.0.0/12", 16), 256n), {
    keeping: 0n,
    otherSize: 256n,
    outside: 0n,
    cidrsTaken: 1n,
    cidrsFree: 15n,
  });
  t.end();
});

test("back from /12 with /16 to /12 with /24: the sixteen podCIDRs take all new CIDRs", (t) => {
  t.strictSame(counts(settings("10.240.0.0/12", 16), settings("10.240.0.0/12", 24), 16n), {
    keeping: 0n,
    otherSize: 16n,
    outside: 0n,
    cidrsTaken: 4096n,
    cidrsFree: 0n,
  });
  t.end();
});

test("a larger cluster CIDR with the same node mask changes nothing for the existing nodes", (t) => {
  const change = changeOf(settings("10.244.0.0/16", 24), settings("10.240.0.0/12", 24), 256n);
  t.strictSame([change.keeping, change.cidrsFree], [256n, 3840n]);
  t.strictSame(changeProblems(change), []);
  t.end();
});

test("another cluster CIDR leaves all nodes outside", (t) => {
  const change = changeOf(settings("10.9.0.0/16", 24), settings("10.0.0.0/16", 24), 256n);
  t.strictSame([change.outside, change.cidrsFree], [256n, 256n]);
  t.strictSame(
    changeProblems(change).map(({ code }) => code),
    ["outside"],
  );
  t.end();
});

test("no more nodes have a podCIDR than the old settings hold", (t) => {
  t.equal(
    changeOf(settings("10.0.0.0/16", 24), settings("10.0.0.0/8", 24), 300n).withPodCidr,
    256n,
  );
  t.end();
});

test("the numbers are those of counting CIDR by CIDR", (t) => {
  const some: fc.Arbitrary<Settings> = fc
    .tuple(fc.nat(255), fc.integer({ min: 24, max: 30 }), fc.nat(4))
    .map(([host, length, nodeBits]) =>
      settings(`10.0.0.${host}/${length}`, Math.min(32, length + nodeBits)),
    );
  fc.assert(
    fc.property(some, some, fc.bigInt({ min: 0n, max: 20n }), (was, now, nodes) => {
      const old = cidrsOf(was).slice(0, Number(nodes));
      const fresh = cidrsOf(now);
      const { first, last } = addressRangeOf(now.cluster);
      const inside = old.filter((one) => one.first >= first.value && one.last <= last.value);
      const taken = fresh.filter((one) =>
        old.some((two) => two.first <= one.last && two.last >= one.first),
      );
      const isSameSize = was.nodeMask === now.nodeMask;
      t.strictSame(counts(was, now, nodes), {
        keeping: BigInt(isSameSize ? inside.length : 0),
        otherSize: BigInt(isSameSize ? 0 : inside.length),
        outside: BigInt(old.length - inside.length),
        cidrsTaken: BigInt(taken.length),
        cidrsFree: BigInt(fresh.length - taken.length),
      });
    }),
    { numRuns: 500, seed },
  );
  t.end();
});

function cidrsOf({ cluster, nodeMask }: Settings): { first: bigint; last: bigint }[] {
  const { first, last } = addressRangeOf(cluster);
  const size = 1n << BigInt(32 - nodeMask);
  const cidrs: { first: bigint; last: bigint }[] = [];
  for (let start = first.value; start <= last.value; start += size) {
    cidrs.push({ first: start, last: start + size - 1n });
  }
  return cidrs;
}
