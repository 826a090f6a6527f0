/** Which nodes need another podCIDR, and which one they should get. */

import type { Family } from "../../ipam/address.ts";
import { formatPrefix, type Prefix } from "../../ipam/prefix.ts";
import { freeCidrs } from "../nodes/free-cidrs.ts";
import {
  type ClusterCidr,
  type ClusterNode,
  type Expectation,
  overlaps,
  type PodCidr,
} from "../nodes/node-cidrs.ts";
import type { CidrGroup } from "../nodes/overlapping-cidrs.ts";

/** A node that needs another podCIDR. */
export interface Renumbering {
  readonly node: ClusterNode;
  /** Its new podCIDRs, in the order of the cluster CIDRs; `undefined` where none is left. */
  readonly podCidrs: readonly string[] | undefined;
}

/** A podCIDR that a node needs. */
interface Need {
  readonly node: ClusterNode;
  readonly family: Family;
}

/**
 * Proposes a free podCIDR for each that a node lacks or cannot keep. A node keeps a podCIDR that lies in the cluster
 * CIDR, is no other node's, and has the right size or overlaps none; of several nodes with the same podCIDR the oldest
 * keeps it. What is free goes first to the nodes that have none.
 *
 * @param groups the podCIDRs of all nodes
 * @returns in the order of the nodes, but those without a podCIDR first: a running kube-controller-manager would give
 *   them the podCIDRs of the others when these are deleted
 */
export function proposeRenumbering(
  nodes: readonly ClusterNode[],
  groups: readonly CidrGroup<PodCidr>[],
  expectation: Expectation,
): readonly Renumbering[] {
  const { families } = expectation;
  const kept = keptCidrs(groups, expectation);
  const ordered = nodes.toSorted(
    (a, b) => Math.min(a.cidrs.length, 1) - Math.min(b.cidrs.length, 1),
  );
  const needs = ordered.flatMap((node): readonly Need[] =>
    families
      .filter((family) => !node.cidrs.some((one) => one.family === family && kept.has(one)))
      .map((family) => ({ node, family })),
  );
  const proposals = propose(needs, groups, expectation);
  return ordered
    .filter((node) => {
      const good = node.cidrs.filter((cidr) => kept.has(cidr));
      return good.length === 0 || good.length < Math.max(node.cidrs.length, families.length);
    })
    .map((node) => {
      const podCidrs = families.flatMap((family) => {
        const own = node.cidrs.find((cidr) => cidr.family === family && kept.has(cidr));
        const proposal = proposals.get(node)?.get(family);
        return own?.text ?? (proposal === undefined ? [] : formatPrefix(proposal));
      });
      return { node, podCidrs: podCidrs.length < families.length ? undefined : podCidrs };
    });
}

/** The podCIDRs that nodes keep, each for one node only. */
function keptCidrs(
  groups: readonly CidrGroup<PodCidr>[],
  expectation: Expectation,
): ReadonlySet<PodCidr> {
  return new Set(
    groups.flatMap(({ members, around, within }) => {
      const isAlone = members.length === 1 && around === undefined && within.length === 0;
      const isAnySize = isAlone && !expectation.replacesHarmless;
      const [keeper] = members.filter((cidr) => isFit(cidr, expectation, isAnySize)).sort(byAge);
      return keeper ?? [];
    }),
  );
}

/** Whether a node may keep it. All such podCIDRs of a family that overlap any have one size, so two overlap only if equal. */
function isFit(
  cidr: PodCidr,
  { clusters, serviceCidrs, masks }: Expectation,
  isAnySize: boolean,
): boolean {
  const mask = masks.find(({ family }) => family === cidr.family);
  return (
    cidr.fault === "" &&
    (isAnySize || mask?.nodeMask === cidr.length) &&
    clusters.some((cluster) => overlaps(cidr, cluster)) &&
    !serviceCidrs.some((service) => overlaps(cidr, service))
  );
}

/** The oldest node first; without a creation time, in the order of the list. */
function byAge(a: PodCidr, b: PodCidr): number {
  return a.node.created < b.node.created ? -1 : a.node.created > b.node.created ? 1 : 0;
}

function propose(
  needs: readonly Need[],
  groups: readonly CidrGroup<PodCidr>[],
  { clusters, serviceCidrs, masks }: Expectation,
): ReadonlyMap<ClusterNode, ReadonlyMap<Family, Prefix>> {
  const proposals = new Map<ClusterNode, Map<Family, Prefix>>();
  if (needs.length === 0) return proposals;
  // The podCIDR of a node is in use until that node has been renumbered.
  const used = [...groups.flatMap(({ members }) => members.slice(0, 1)), ...serviceCidrs];
  const groupOf = new Map(groups.map((group) => [group.members[0], group]));
  for (const cluster of clusters) {
    const { family } = cluster.address;
    const nodeMask = masks.find((mask) => mask.family === family)?.nodeMask;
    if (nodeMask === undefined || nodeMask < cluster.length) continue;
    const nextFree = freeCidrs(cluster, nodeMask, used);
    for (const { node } of needs.filter((need) => need.family === family)) {
      const cidr = nextFree() ?? partOfOwnCidr(node, groupOf, serviceCidrs, cluster, nodeMask);
      if (cidr === undefined) continue;
      const own = proposals.get(node) ?? new Map<Family, Prefix>();
      proposals.set(node, own.set(family, cidr));
    }
  }
  return proposals;
}

/**
 * A part of the node's own podCIDR, if that is too large and no other node's. Where few large podCIDRs take the whole
 * cluster CIDR, and smaller ones are wanted, nothing else is free.
 */
function partOfOwnCidr(
  { cidrs }: ClusterNode,
  groupOf: ReadonlyMap<PodCidr | undefined, CidrGroup<PodCidr>>,
  serviceCidrs: readonly ClusterCidr[],
  cluster: ClusterCidr,
  nodeMask: number,
): Prefix | undefined {
  const { family } = cluster.address;
  for (const cidr of cidrs.filter((one) => one.family === family)) {
    const group = groupOf.get(cidr);
    if (group === undefined || group.members.length > 1 || group.around !== undefined) continue;
    const inner = group.within.flatMap(({ members }) => members.slice(0, 1));
    const region = cidr.length >= cluster.length ? cidr : cluster;
    if (!overlaps(cidr, cluster)) continue;
    const part = freeCidrs(region, nodeMask, [...inner, ...serviceCidrs])();
    if (part !== undefined) return part;
  }
  return undefined;
}
