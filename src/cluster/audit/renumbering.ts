/** Which nodes need another podCIDR, and which one they should get. */

import type { Family } from "../../ipam/address.ts";
import { formatPrefix, type Prefix } from "../../ipam/prefix.ts";
import { freeCidrs } from "../nodes/free-cidrs.ts";
import {
  type ClusterCidr,
  type Expectation,
  type NodeCidrs,
  overlaps,
  type PodCidr,
} from "../nodes/node-cidrs.ts";
import type { ClusterNode } from "../nodes/node-list.ts";
import type { CidrGroup } from "../nodes/overlapping-cidrs.ts";
import { isInside, isNodeName } from "./node-findings.ts";

/** A node that needs another podCIDR. */
export interface Renumbering {
  readonly node: ClusterNode;
  /** Its new podCIDRs, in the order of the cluster CIDRs; `undefined` where there is no proposal. */
  readonly podCidrs: readonly string[] | undefined;
  /** Why there is none; empty where there is one. */
  readonly problem: string;
}

/** A podCIDR that a node needs. */
interface Need {
  readonly nodeCidrs: NodeCidrs;
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
  nodes: readonly NodeCidrs[],
  groups: readonly CidrGroup<PodCidr>[],
  expectation: Expectation,
): readonly Renumbering[] {
  const { families } = expectation;
  const kept = keptCidrs(groups, expectation);
  const needs = nodes
    .filter(({ node }) => isNodeName(node.name))
    .flatMap((nodeCidrs): readonly Need[] =>
      families
        .filter((family) => !nodeCidrs.cidrs.some((one) => one.family === family && kept.has(one)))
        .map((family) => ({ nodeCidrs, family })),
    )
    .sort((a, b) => withoutFirst(a.nodeCidrs.node, b.nodeCidrs.node));
  const proposals = propose(needs, groups, expectation);
  const noneLeft = (family: Family): string =>
    `no IPv${family} podCIDR is left in the cluster CIDR; see ${planFor(nodes.length, expectation)}`;
  return nodes
    .filter(({ node, cidrs }) => {
      const good = cidrs.filter((cidr) => kept.has(cidr));
      return good.length === 0 || good.length < Math.max(node.podCidrs.length, families.length);
    })
    .map((nodeCidrs) => renumberingOf(nodeCidrs, kept, proposals, expectation, noneLeft))
    .sort((a, b) => withoutFirst(a.node, b.node));
}

/** Nodes without a podCIDR come first; the order is otherwise that of the list. */
function withoutFirst(a: ClusterNode, b: ClusterNode): number {
  return Math.min(a.podCidrs.length, 1) - Math.min(b.podCidrs.length, 1);
}

/** The command that says which cluster CIDR and node mask hold all nodes. */
function planFor(nodes: number, { clusters, serviceCidrs }: Expectation): string {
  const services =
    serviceCidrs.length === 0 ? "" : ` --service-cidr ${serviceCidrs.map(formatPrefix).join(",")}`;
  return `host-local plan --cluster-cidr ${clusters.map(formatPrefix).join(",")}${services} --nodes ${nodes}`;
}

function renumberingOf(
  { node, cidrs }: NodeCidrs,
  kept: ReadonlySet<PodCidr>,
  proposals: ReadonlyMap<ClusterNode, ReadonlyMap<Family, Prefix>>,
  { clusters, families }: Expectation,
  noneLeft: (family: Family) => string,
): Renumbering {
  const noProposal = (problem: string): Renumbering => ({ node, podCidrs: undefined, problem });
  if (!isNodeName(node.name)) return noProposal("Kubernetes does not accept this name");
  if (clusters.length === 0) return noProposal("give --cluster-cidr for a proposal");
  const podCidrs: string[] = [];
  for (const family of families) {
    const own = cidrs.find((cidr) => cidr.family === family && kept.has(cidr));
    const proposal = proposals.get(node)?.get(family);
    if (own !== undefined) podCidrs.push(own.text);
    else if (proposal !== undefined) podCidrs.push(formatPrefix(proposal));
    else return noProposal(noneLeft(family));
  }
  return { node, podCidrs, problem: "" };
}

/** The podCIDRs that nodes keep: one of a family for each node, and each for one node only. */
function keptCidrs(
  groups: readonly CidrGroup<PodCidr>[],
  expectation: Expectation,
): ReadonlySet<PodCidr> {
  const kept = new Set<PodCidr>();
  const keepers = new Set<string>();
  for (const { members, around, within } of groups) {
    const isAlone = members.length === 1 && around === undefined && within.length === 0;
    const isAnySize = isAlone && !expectation.replacesHarmless;
    const fit = members.filter((cidr) => isFit(cidr, expectation, isAnySize)).sort(byAge);
    const keeper = fit.find((cidr) => !keepers.has(`${cidr.family} ${cidr.node.name}`));
    if (keeper === undefined) continue;
    kept.add(keeper);
    keepers.add(`${keeper.family} ${keeper.node.name}`);
  }
  return kept;
}

/** Whether a node may keep it. All such podCIDRs of a family that overlap any have one size, so two overlap only if equal. */
function isFit(
  cidr: PodCidr,
  { clusters, serviceCidrs, masks, families }: Expectation,
  isAnySize: boolean,
): boolean {
  const mask = masks.find(({ family }) => family === cidr.family);
  return (
    cidr.fault === "" &&
    families.includes(cidr.family) &&
    (isAnySize || mask?.nodeMask === cidr.length) &&
    (clusters.length === 0 || isInside(cidr, clusters)) &&
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
    for (const { nodeCidrs } of needs.filter((need) => need.family === family)) {
      const cidr = nextFree() ?? partOfOwnCidr(nodeCidrs, groupOf, serviceCidrs, cluster, nodeMask);
      if (cidr === undefined) continue;
      const own = proposals.get(nodeCidrs.node) ?? new Map<Family, Prefix>();
      proposals.set(nodeCidrs.node, own.set(family, cidr));
    }
  }
  return proposals;
}

/**
 * A part of the node's own podCIDR, if that is too large and no other node's. Where few large podCIDRs take the whole
 * cluster CIDR, and smaller ones are wanted, nothing else is free.
 */
function partOfOwnCidr(
  { cidrs }: NodeCidrs,
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
    if (region === cidr && !isInside(cidr, [cluster])) continue;
    const part = freeCidrs(region, nodeMask, [...inner, ...serviceCidrs])();
    if (part !== undefined) return part;
  }
  return undefined;
}
