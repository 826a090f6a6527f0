import fc from "fast-check";
import { test } from "tap";
import { findProblems } from "../../../src/cluster/audit/node-findings.ts";
import { proposeRenumbering, type Renumbering } from "../../../src/cluster/audit/renumbering.ts";
import type { ClusterNode, Expectation } from "../../../src/cluster/nodes/node-cidrs.ts";
import { parseNodes } from "../../../src/cluster/nodes/node-list.ts";
import { groupCidrs } from "../../../src/cluster/nodes/overlapping-cidrs.ts";
import { isWithin } from "../../../src/ipam/address.ts";
import { addressRangeOf, parsePrefix } from "../../../src/ipam/prefix.ts";
import { seed } from "../../harness/seed.ts";
import { clusterCidr } from "../cluster-cidr.ts";
import { nodesJson } from "../node-texts.ts";

function node(name: string, podCidrs: readonly string[], created = ""): ClusterNode {
  const [read] = parseNodes(nodesJson([{ name, podCidrs, created, pods: "1" }]), "it");
  if (read === undefined) throw new Error("a node was written");
  return read;
}

function expectation(...settings: readonly (readonly [cluster: string, nodeMask: number])[]) {
  const clusters = settings.map(([cluster]) => clusterCidr(cluster));
  const families = clusters.map(({ address }) => address.family);
  const masks = families.map((family, index) => ({
    family,
    nodeMask: settings[index]?.[1] ?? 0,
    source: "option" as const,
  }));
  return {
    clusters,
    serviceCidrs: [],
    families,
    masks,
    hostNetworkPods: 0n,
    replacesHarmless: false,
  };
}

function renumber(nodes: readonly ClusterNode[], expected: Expectation): readonly Renumbering[] {
  const groups = groupCidrs(nodes.flatMap(({ cidrs }) => cidrs));
  return proposeRenumbering(nodes, groups, expected);
}

function proposals(nodes: readonly ClusterNode[], expected: Expectation) {
  return renumber(nodes, expected).map((one) => [one.node.name, one.podCidrs?.join(",") ?? "none"]);
}

test("of nodes with the same podCIDR the oldest keeps it", async (t) => {
  const nodes = [
    node("b", ["10.0.0.0/24"], "2024-05-01T10:00:00Z"),
    node("a", ["10.0.0.0/24"], "2023-05-01T10:00:00Z"),
    node("c", ["10.0.0.0/24"], "2024-05-01T10:00:00Z"),
  ];
  t.strictSame(proposals(nodes, expectation(["10.0.0.0/16", 24])), [
    ["b", "10.0.1.0/24"],
    ["c", "10.0.2.0/24"],
  ]);
});

test("what is free goes first to nodes that have none", async (t) => {
  const nodes = [node("a", ["10.9.0.0/24"]), node("b", ["10.0.0.0/24"]), node("c", [])];
  t.strictSame(proposals(nodes, expectation(["10.0.0.0/23", 24])), [
    ["c", "10.0.1.0/24"],
    ["a", "none"],
  ]);
});

test("a podCIDR of another size that overlaps one is replaced; one of the right size in it stays", async (t) => {
  const nodes = [node("a", ["10.0.0.0/20"]), node("b", ["10.0.3.0/24"])];
  t.strictSame(proposals(nodes, expectation(["10.0.0.0/16", 24])), [["a", "10.0.16.0/24"]]);
});

test("a node keeps its good podCIDR of the other family", async (t) => {
  const nodes = [
    node("a", ["10.0.0.0/24", "fd00:0:0:1::/64"]),
    node("b", ["10.9.0.0/24", "fd00:0:0:2::/64"]),
    node("c", ["fd00:0:0:3::/64"]),
    node("d", []),
  ];
  t.strictSame(proposals(nodes, expectation(["10.0.0.0/16", 24], ["fd00::/48", 64])), [
    ["d", "10.0.1.0/24,fd00::/64"],
    ["b", "10.0.2.0/24,fd00:0:0:2::/64"],
    ["c", "10.0.3.0/24,fd00:0:0:3::/64"],
  ]);
});

test("where large podCIDRs take the whole cluster CIDR, each node gets a part of its own", async (t) => {
  const nodes = [node("a", ["10.0.0.0/17"]), node("b", ["10.0.128.0/17"]), node("c", [])];
  const forced = { ...expectation(["10.0.0.0/16", 24]), replacesHarmless: true };
  t.strictSame(proposals(nodes, forced), [
    ["c", "none"],
    ["a", "10.0.0.0/24"],
    ["b", "10.0.128.0/24"],
  ]);
  t.strictSame(proposals(nodes, expectation(["10.0.0.0/16", 24])), [["c", "none"]]);
});

test("no proposal overlaps another node's podCIDR, and once applied there are no errors", async (t) => {
  const cidrs = fc.oneof(
    fc.tuple(fc.nat(255), fc.integer({ min: 24, max: 30 })).map(([host, length]) => {
      const prefix = parsePrefix(`10.0.0.${host}/${length}`);
      if (prefix === undefined) throw new Error("a network was written");
      const { value } = addressRangeOf(prefix).first;
      return `10.0.0.${value & 255n}/${length}`;
    }),
    fc.constantFrom("10.0.1.0/28", "fd00::/64", "10.0.0.5/28"),
  );
  // The API server accepts one of each family.
  const ofNode = fc.uniqueArray(cidrs, { maxLength: 2, selector: (one) => one.includes(":") });
  const clusters = fc.array(ofNode, { maxLength: 14 });
  fc.assert(
    fc.property(clusters, fc.boolean(), (all, replacesHarmless) => {
      const expected = { ...expectation(["10.0.0.0/24", 28]), replacesHarmless };
      const nodes = all.map((podCidrs, index) => node(`node-${index}`, podCidrs));
      const changes = renumber(nodes, expected);
      const cidrsByNode = new Map(nodes.map((one) => [one.name, one.cidrs]));
      for (const { node: changed, podCidrs = [] } of changes) {
        const former = changed.cidrs.map(({ text }) => text);
        const proposed = podCidrs.filter((one) => !former.includes(one));
        for (const cidr of node("new", proposed).cidrs) {
          for (const [name, others] of cidrsByNode) {
            const overlaps = others.some(
              (one) => isWithin(one.first, cidr) || isWithin(cidr.first, one),
            );
            t.notOk(overlaps && name !== changed.name, `${cidr.text} of ${name}`);
          }
        }
      }
      // All that have a proposal take it; those without one are left out.
      const after = nodes.flatMap((one) => {
        const change = changes.find((two) => two.node === one);
        if (change === undefined) return [one];
        return change.podCidrs === undefined ? [] : [node(one.name, change.podCidrs)];
      });
      const groups = groupCidrs(after.flatMap(({ cidrs }) => cidrs));
      const left = findProblems(after, groups, expected);
      const isAccepted = (code: string): boolean => code === "mask-size" && !replacesHarmless;
      t.strictSame(
        left.filter(({ code }) => !isAccepted(code)),
        [],
      );
    }),
    { numRuns: 500, seed },
  );
});
