import fc from "fast-check";
import { test } from "tap";
import { changeOf, changeProblems, type Settings } from "../../../src/cluster/plan/cidr-change.ts";
import { layOutCidrs } from "../../../src/cluster/plan/cidr-layout.ts";
import { addressRangeOf } from "../../../src/ipam/prefix.ts";
import { seed } from "../../harness/seed.ts";
import { clusterCidr } from "../cluster-cidr.ts";

function settings(text: string, nodeMask: number, ...services: readonly string[]): Settings {
  const cluster = clusterCidr(text);
  const { family } = cluster.address;
  const serviceCidrs = services.map(clusterCidr);
  const unknown = { nodes: undefined, pods: undefined };
  return { ...layOutCidrs({ family, cluster, serviceCidrs, nodeMask, ...unknown }), cluster };
}

/** The settings before and after, and the nodes; what that means for them, and the problems. */
const cases: Readonly<Record<string, readonly [Settings, Settings, bigint, object, string[]]>> = {
  "the nodes have no podCIDR in a service CIDR, and get none": [
    settings("10.0.0.0/8", 24, "10.0.1.0/24", "10.96.0.0/12"),
    settings("10.0.0.0/8", 24, "10.0.1.0/24", "10.96.0.0/12"),
    3n,
    { keeping: 3n, cidrsTaken: 3n, cidrsFree: 61_436n },
    [],
  ],
  "a podCIDR that contains the new cluster CIDR is accepted; a second one is beside it": [
    settings("10.240.0.0/12", 16),
    settings("10.240.0.0/20", 24),
    2n,
    { keeping: 0n, otherSize: 1n, outside: 1n, cidrsTaken: 16n, cidrsFree: 0n },
    ["outside", "overlap"],
  ],
};

for (const [name, [was, now, nodes, counted, codes]] of Object.entries(cases)) {
  test(name, async (t) => {
    const change = changeOf(was, now, nodes);
    t.match(change, counted);
    t.strictSame(
      changeProblems(change).map(({ code }) => code),
      codes,
    );
  });
}

test("the numbers are those of counting CIDR by CIDR", async (t) => {
  const cidr = fc.tuple(fc.nat(255), fc.integer({ min: 24, max: 30 }));
  const network = cidr.map(([host, length]) => `10.0.0.${host}/${length}`);
  const some = fc.tuple(cidr, fc.nat(4)).map(([[host, length], nodeBits]) => ({
    text: `10.0.0.${host}/${length}`,
    nodeMask: Math.min(32, length + nodeBits),
  }));
  const services = fc.array(network, { maxLength: 2 });
  const counted = fc.bigInt({ min: 0n, max: 20n });
  fc.assert(
    fc.property(some, some, services, counted, (before, after, given, nodes) => {
      const was = settings(before.text, before.nodeMask, ...given);
      const now = settings(after.text, after.nodeMask, ...given);
      const isService = (one: Numbers): boolean =>
        given
          .map(clusterCidr)
          .some((two) => overlaps(one, { first: two.first.value, last: two.last.value }));
      const old = cidrsOf(was)
        .filter((one) => !isService(one))
        .slice(0, Number(nodes));
      const fresh = cidrsOf(now);
      const { first, last } = addressRangeOf(now.cluster);
      const cluster = { first: first.value, last: last.value };
      const accepted = old.filter((one) => overlaps(one, cluster));
      const taken = fresh.filter((one) => old.some((two) => overlaps(one, two)));
      const free = fresh.filter((one) => !taken.includes(one) && !isService(one));
      const isSameSize = was.nodeMask === now.nodeMask;
      t.match(changeOf(was, now, nodes), {
        keeping: BigInt(isSameSize ? accepted.length : 0),
        otherSize: BigInt(isSameSize ? 0 : accepted.length),
        outside: BigInt(old.length - accepted.length),
        cidrsTaken: BigInt(taken.length),
        cidrsFree: BigInt(free.length),
      });
    }),
    { numRuns: 500, seed },
  );
});

interface Numbers {
  readonly first: bigint;
  readonly last: bigint;
}

/** As kube-controller-manager accepts a podCIDR: it lies in the other network, or contains it. */
function overlaps(one: Numbers, other: Numbers): boolean {
  return one.first <= other.last && other.first <= one.last;
}

function cidrsOf({ cluster, nodeMask }: Settings): Numbers[] {
  const { first, last } = addressRangeOf(cluster);
  const size = 1n << BigInt(32 - nodeMask);
  const cidrs: Numbers[] = [];
  for (let start = first.value; start <= last.value; start += size) {
    cidrs.push({ first: start, last: start + size - 1n });
  }
  return cidrs;
}
