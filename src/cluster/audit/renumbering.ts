/** Which nodes need another podCIDR, and which one they should get. */

import { type AddressRange, overlaps } from "../../ipam/address.ts";
import { formatPrefix, type Prefix } from "../../ipam/prefix.ts";
import { freeCidrs } from "../nodes/assignable-cidrs.ts";
import type { ClusterCidr, ClusterNode, Expectation, PodCidr } from "../nodes/node-cidrs.ts";
import { startFault } from "../nodes/obstacles.ts";
import type { CidrGroup } from "../nodes/overlapping-cidrs.ts";

/** A node that needs another podCIDR. */
export interface Renumbering {
  readonly node: ClusterNode;
  /** The node's new podCIDRs, in the order of the cluster CIDRs; `undefined` where none is left. */
  readonly podCidrs: readonly string[] | undefined;
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
  const { clusters, families, serviceCidrs } = expectation;
  const kept = keptCidrs(groups, expectation);
  const keptOf = ({ cidrs }: ClusterNode, { address }: ClusterCidr): PodCidr | undefined =>
    cidrs.find((cidr) => cidr.family === address.family && kept.has(cidr));
  const ordered = nodes.toSorted(
    (a, b) => Math.min(a.cidrs.length, 1) - Math.min(b.cidrs.length, 1),
  );
  // A pod with an address of a node or a service cannot be reached.
  const others = [
    ...serviceCidrs,
    ...nodes.flatMap(({ addresses }) =>
      addresses.map((address) => ({ first: address, last: address })),
    ),
  ];
  const proposals = clusters.map((cluster) => ({
    cluster,
    proposed: propose(
      cluster,
      ordered.filter((node) => keptOf(node, cluster) === undefined),
      groups,
      others,
      expectation,
    ),
  }));
  return ordered
    .filter((node) => {
      const good = node.cidrs.filter((cidr) => kept.has(cidr));
      // kube-controller-manager compares them in the order of the cluster CIDRs.
      const isOrdered = good.every((cidr, index) => cidr.family === families[index]);
      const count = Math.max(node.cidrs.length, families.length);
      return good.length === 0 || good.length < count || !isOrdered;
    })
    .map((node) => {
      const podCidrs = proposals.flatMap(
        ({ cluster, proposed }) => keptOf(node, cluster)?.text ?? proposed.get(node) ?? [],
      );
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

/**
 * The new podCIDRs of nodes that lack one of a family, as far as there are any.
 *
 * @param others what they may not contain beside the podCIDRs of other nodes
 */
function propose(
  cluster: ClusterCidr,
  nodes: readonly ClusterNode[],
  groups: readonly CidrGroup<PodCidr>[],
  others: readonly AddressRange[],
  { masks }: Expectation,
): ReadonlyMap<ClusterNode, string> {
  const { family } = cluster.address;
  const nodeMask = masks.find((mask) => mask.family === family)?.nodeMask;
  if (nodeMask === undefined || startFault(family, cluster.length, nodeMask)) return new Map();
  // The podCIDR of a node is in use until that node has been renumbered.
  const used = [...groups.flatMap(({ members }) => members.slice(0, 1)), ...others];
  const groupOf = new Map(groups.map((group) => [group.members[0], group]));
  const nextFree = freeCidrs(cluster, nodeMask, used);
  return new Map(
    nodes.flatMap((node) => {
      const cidr = nextFree() ?? partOfOwnCidr(node, groupOf, others, cluster, nodeMask);
      return cidr === undefined ? [] : [[node, formatPrefix(cidr)]];
    }),
  );
}

/**
 * A part of the node's own podCIDR, if that is too large and no other node's. Where few large podCIDRs take the whole
 * cluster CIDR, and smaller ones are wanted, nothing else is free.
 */
function partOfOwnCidr(
  { cidrs }: ClusterNode,
  groupOf: ReadonlyMap<PodCidr | undefined, CidrGroup<PodCidr>>,
  others: readonly AddressRange[],
  cluster: ClusterCidr,
  nodeMask: number,
): Prefix | undefined {
  for (const cidr of cidrs.filter((own) => overlaps(own, cluster))) {
    const group = groupOf.get(cidr);
    if (group === undefined || group.members.length > 1 || group.around !== undefined) continue;
    const inner = group.within.flatMap(({ members }) => members.slice(0, 1));
    const region = cidr.length >= cluster.length ? cidr : cluster;
    const part = freeCidrs(region, nodeMask, [...inner, ...others])();
    if (part !== undefined) return part;
  }
  return undefined;
}
