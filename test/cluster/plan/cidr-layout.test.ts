import { inspect } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import { countAssignable } from "../../../src/cluster/nodes/assignable-cidrs.ts";
import { nodesIn, podsIn } from "../../../src/cluster/nodes/node-mask.ts";
import { startFault } from "../../../src/cluster/nodes/obstacles.ts";
import { layOutCidrs } from "../../../src/cluster/plan/cidr-layout.ts";
import type { CidrLayout, CidrRequest } from "../../../src/cluster/plan/cidr-request.ts";
import { problemsOf } from "../../../src/cluster/plan/problems.ts";
import { addressRangeOf, type Prefix, parsePrefix } from "../../../src/ipam/prefix.ts";
import { seed } from "../../harness/seed.ts";
import { families } from "../../ipam/arbitraries.ts";
import { clusterCidr } from "../cluster-cidr.ts";

/** What is given beside the cluster CIDR. */
type Given = Partial<Omit<CidrRequest, "cluster">>;

const services12 = [clusterCidr("10.96.0.0/12")];

function request(cidr: string, given: Given): CidrRequest {
  const cluster = cidr === "" ? undefined : parsePrefix(cidr);
  const family = cluster?.address.family ?? 4;
  const nothing = {
    serviceCidrs: [],
    nodeMask: undefined,
    nodes: undefined,
    pods: undefined,
  };
  return { family, ...nothing, ...given, cluster };
}

function problemCodes(asked: CidrRequest): readonly string[] {
  return problemsOf(asked, layOutCidrs(asked)).map(({ code }) => code);
}

test("a cluster CIDR, or a number of nodes, and what else is given give the rest", async (t) => {
  const cases: readonly (readonly [cluster: string, Given, layout: Partial<CidrLayout>])[] = [
    ["10.244.0.0/16", {}, { nodeMask: 24 }],
    ["10.244.0.0/16", { nodeMask: 24 }, { clusterLength: 16, nodes: 256n, pods: 253n }],
    ["10.244.0.0/16", { nodes: 1000n }, { nodeMask: 26, nodes: 1024n, pods: 61n }],
    ["10.244.0.0/16", { nodes: 100n }, { nodeMask: 23, nodes: 128n, pods: 509n }],
    ["10.244.0.0/16", { pods: 110n }, { nodeMask: 25, nodes: 512n, pods: 125n }],
    ["10.244.0.0/16", { pods: 1n }, { nodeMask: 30, nodes: 16384n, pods: 1n }],
    ["10.244.0.0/26", {}, { nodeMask: 26, nodes: 1n }],
    ["", { nodeMask: 24, nodes: 4096n }, { clusterLength: 12, nodes: 4096n, pods: 253n }],
    ["", { nodes: 1000n, pods: 110n }, { clusterLength: 15, nodeMask: 25, nodes: 1024n }],
    ["fd00::/32", {}, { nodeMask: 48, nodes: 65536n }],
    ["fd00::/48", { nodes: 1000n }, { nodeMask: 64, nodes: 65536n, pods: 2n ** 64n - 2n }],
    ["fd00::/60", { nodes: 100n }, { nodeMask: 67, nodes: 128n }],
    ["fd00::/108", { pods: 254n }, { nodeMask: 120, nodes: 4096n, pods: 254n }],
    ["10.0.0.0/8", { nodes: 61_440n, serviceCidrs: services12 }, { nodeMask: 24, nodes: 61_440n }],
    ["10.0.0.0/8", { nodes: 65_000n, serviceCidrs: services12 }, { nodeMask: 25, nodes: 122_880n }],
    ["10.96.0.0/16", { nodeMask: 24, serviceCidrs: services12 }, { nodes: 0n }],
    ["", { family: 6, nodes: 100n, pods: 10n }, { clusterLength: 57, nodeMask: 64, nodes: 128n }],
  ];
  for (const [cluster, given, layout] of cases) {
    const asked = request(cluster, given);
    t.match(layOutCidrs(asked), layout, inspect({ cluster, given }));
    t.strictSame(problemCodes(asked), []);
  }
});

test("what does not fit is a problem, with what to choose instead", async (t) => {
  const cases: readonly (readonly [cluster: string, Given, code: string, instead: string])[] = [
    [
      "10.244.0.0/16",
      { nodeMask: 24, nodes: 300n },
      "too-many-nodes",
      "a node mask of /25 (512 nodes of 125 pods), or a cluster CIDR of /15 with a node mask of /24 (512 nodes of 253 pods)",
    ],
    [
      "10.244.0.0/16",
      { nodeMask: 24, pods: 254n },
      "too-many-pods",
      "a node mask of /23 (128 nodes of 509 pods), or a cluster CIDR of /15 with a node mask of /23 (256 nodes of 509 pods)",
    ],
    [
      "10.244.0.0/16",
      { nodes: 1000n, pods: 200n },
      "too-many-nodes",
      "a cluster CIDR of /14 with a node mask of /24 (1024 nodes of 253 pods)",
    ],
    [
      "",
      { nodeMask: 30, nodes: 4n, pods: 2n },
      "too-many-pods",
      "a cluster CIDR of /27 with a node mask of /29 (4 nodes of 5 pods)",
    ],
    [
      "10.0.0.0/24",
      { nodeMask: 16 },
      "mask-too-short",
      "a node mask of /24 (1 node of 253 pods), or a cluster CIDR of /16 with a node mask of /16 (1 node of 65533 pods)",
    ],
    [
      "",
      { nodeMask: 32, nodes: 4n },
      "pod-cidr-too-small",
      "a cluster CIDR of /22 with a node mask of /24 (4 nodes of 253 pods)",
    ],
    [
      "fd00::/32",
      { nodeMask: 64 },
      "too-many-pod-cidrs",
      "a node mask of /48 (65536 nodes of 1208925819614629174706174 pods)",
    ],
    [
      "fd00::/48",
      { nodes: 65_537n },
      "too-many-nodes",
      "fewer nodes or fewer pods per node; kube-controller-manager assigns at most 65536 IPv6 podCIDRs",
    ],
    [
      "",
      { nodes: 100_000n, pods: 5000n },
      "no-private-network",
      "fewer nodes, fewer pods per node, or IPv6; no private IPv4 network has enough addresses",
    ],
    [
      "10.0.0.0/8",
      { nodeMask: 24, nodes: 65_000n, serviceCidrs: services12 },
      "too-many-nodes",
      "a node mask of /25 (122880 nodes of 125 pods)",
    ],
    [
      "10.96.0.0/16",
      { nodeMask: 24, nodes: 3n, serviceCidrs: services12 },
      "too-many-nodes",
      "a cluster CIDR of /22 outside the service CIDR with a node mask of /24 (4 nodes of 253 pods)",
    ],
  ];
  for (const [cluster, given, code, instead] of cases) {
    const asked = request(cluster, given);
    const found = problemsOf(asked, layOutCidrs(asked)).find((problem) => problem.code === code);
    t.equal(found?.instead, instead, code);
  }
});

const services = fc.subarray(
  [
    "10.96.0.0/12",
    "10.0.0.0/12",
    "10.0.0.0/24",
    "10.0.0.8/29",
    "10.0.0.0/8",
    "fd00::/40",
    "fd00::/112",
  ].map(clusterCidr),
  { maxLength: 2 },
);

const requests: fc.Arbitrary<CidrRequest> = families.chain((family) => {
  const bits = family === 4 ? 32 : 128;
  const lengths = fc.integer({ min: family === 4 ? 8 : 16, max: bits - 2 });
  const cluster = lengths.map((length): Prefix => {
    const prefix = parsePrefix(family === 4 ? `10.0.0.0/${length}` : `fd00::/${length}`);
    if (prefix === undefined) throw new Error("a network was written");
    return { ...prefix, address: addressRangeOf(prefix).first };
  });
  const counts = fc.bigInt({ min: 1n, max: 100_000n });
  return fc.record({
    family: fc.constant(family),
    cluster: fc.option(cluster, { nil: undefined }),
    serviceCidrs: services,
    nodeMask: fc.option(lengths, { nil: undefined }),
    nodes: fc.option(counts, { nil: undefined }),
    pods: fc.option(counts, { nil: undefined }),
  });
});

test("a plan without problems holds all that was asked for, and its numbers agree", async (t) => {
  fc.assert(
    fc.property(requests, (asked) => {
      const layout = layOutCidrs(asked);
      const { family, clusterLength, nodeMask, nodes, pods } = layout;
      t.equal(pods, podsIn(family, nodeMask));
      const { cluster, serviceCidrs } = asked;
      const expected =
        cluster === undefined
          ? nodesIn(clusterLength, nodeMask)
          : countAssignable(addressRangeOf(cluster), nodeMask, serviceCidrs);
      const isStarting = startFault(family, clusterLength, nodeMask) === undefined;
      t.equal(nodes, isStarting ? expected : 0n);
      if (problemsOf(asked, layout).length > 0) return;
      t.equal(nodeMask, asked.nodeMask ?? nodeMask);
      t.ok(asked.nodes === undefined || nodes >= asked.nodes);
      t.ok(asked.pods === undefined || pods >= asked.pods);
      t.ok(pods > 0n);
    }),
    { numRuns: 1000, seed },
  );
});

test("what is advised has no problem itself", async (t) => {
  fc.assert(
    fc.property(requests, (asked) => {
      for (const { instead } of problemsOf(asked, layOutCidrs(asked))) {
        for (const [, mask] of instead.matchAll(/(?:^|or )a node mask of \/(\d+) \(\d+ node/g)) {
          t.strictSame(problemCodes({ ...asked, nodeMask: Number(mask) }), [], instead);
        }
        for (const [, length, mask] of instead.matchAll(
          /cluster CIDR of \/(\d+)(?: outside the service CIDR)? with a node mask of \/(\d+)/g,
        )) {
          const cluster = parsePrefix(`${asked.family === 4 ? "0.0.0.0" : "::"}/${length}`);
          const other = { ...asked, cluster, serviceCidrs: [], nodeMask: Number(mask) };
          t.strictSame(problemCodes(other), [], instead);
        }
      }
    }),
    { numRuns: 1000, seed },
  );
});
