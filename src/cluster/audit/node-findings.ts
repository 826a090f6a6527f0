/** The problems of the podCIDRs of nodes. */

import { plural } from "../../cli/output/plural.ts";
import {
  type Address,
  type AddressRange,
  bitsOf,
  formatAddress,
  isWithin,
  overlaps,
} from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import type { ClusterNode, Expectation, PodCidr } from "../nodes/node-cidrs.ts";
import { podsIn } from "../nodes/node-mask.ts";
import { type CidrGroup, groupCidrs } from "../nodes/overlapping-cidrs.ts";

/** The kinds of problems, the most severe first. */
export const findingCodes = [
  "duplicate",
  "overlap",
  "no-pod-cidr",
  "invalid",
  "outside",
  "service-cidr",
  "node-address",
  "mask-size",
  "max-pods",
] as const;

export type FindingCode = (typeof findingCodes)[number];

/** A problem of one node. */
export interface NodeFinding {
  readonly code: FindingCode;
  readonly severity: "error" | "warning";
  readonly node: ClusterNode;
  /** The podCIDR as the node object has it, or all of the node, separated by commas; empty where there is none. */
  readonly podCidr: string;
  readonly message: string;
}

/** How many other nodes a message names. */
const NAMED = 3;

/**
 * Finds the problems of all nodes.
 *
 * @param groups the podCIDRs of all nodes
 * @returns by code, in the order of `findingCodes`, then in the order of the nodes
 */
export function findProblems(
  nodes: readonly ClusterNode[],
  groups: readonly CidrGroup<PodCidr>[],
  expectation: Expectation,
): readonly NodeFinding[] {
  const shared = sharingProblems(groups);
  const podCidrAround = podCidrsAround(nodes);
  const findings = nodes.flatMap((node) => [
    ...node.cidrs.flatMap((cidr) => shared.get(cidr) ?? []),
    ...ownProblems(node, expectation),
    ...node.addresses.flatMap((address) =>
      addressProblems(node, address, podCidrAround.get(address), expectation),
    ),
  ]);
  const rank = new Map(findingCodes.map((code, index) => [code, index]));
  return findings.sort((a, b) => (rank.get(a.code) ?? 0) - (rank.get(b.code) ?? 0));
}

/** Duplicates and overlaps, by podCIDR. */
function sharingProblems(
  groups: readonly CidrGroup<PodCidr>[],
): ReadonlyMap<PodCidr, readonly NodeFinding[]> {
  const problems = new Map<PodCidr, readonly NodeFinding[]>();
  for (const group of groups) {
    const { members, around, within } = group;
    if (members.length === 1 && around === undefined && within.length === 0) continue;
    for (const cidr of members) {
      const found: NodeFinding[] = [];
      if (members.length > 1) {
        found.push(finding("duplicate", cidr, `also assigned to ${nodesOf(members, cidr)}`));
      }
      if (around !== undefined) {
        found.push(finding("overlap", cidr, `lies in ${describe([around], cidr)}`));
      }
      if (within.length > 0) {
        found.push(finding("overlap", cidr, `contains ${describe(within, cidr)}`));
      }
      problems.set(cidr, found);
    }
  }
  return problems;
}

function ownProblems(
  node: ClusterNode,
  { clusters, serviceCidrs, masks, families, hostNetworkPods }: Expectation,
): readonly NodeFinding[] {
  const { cidrs } = node;
  const found: NodeFinding[] = [];
  const all = { node, text: cidrs.map(({ text }) => text).join(",") };
  if (cidrs.length === 0) {
    found.push(finding("no-pod-cidr", all, "pods on it get no address"));
  } else {
    for (const family of families.filter(
      (expected) => !cidrs.some((cidr) => cidr.family === expected),
    )) {
      found.push(finding("no-pod-cidr", all, `pods on it get no IPv${family} address`));
    }
  }
  for (const [index, cidr] of cidrs.entries()) {
    if (cidr.fault !== "") found.push(finding("invalid", cidr, cidr.fault));
    const outside = outsideProblem(cidr, index, clusters);
    if (outside !== undefined) found.push(finding("outside", cidr, outside));
    for (const service of serviceCidrs.filter((candidate) => overlaps(cidr, candidate))) {
      found.push(finding("service-cidr", cidr, `overlaps ${formatPrefix(service)}`));
    }
    const mask = masks.find(({ family }) => family === cidr.family);
    if (mask !== undefined && mask.nodeMask !== cidr.length) {
      found.push(finding("mask-size", cidr, `the node mask is /${mask.nodeMask}`));
    }
  }
  const [smallest] = [...cidrs].sort(bySize);
  if (smallest !== undefined && node.pods !== undefined) {
    const holds = podsIn(smallest.family, smallest.length);
    const most = holds + hostNetworkPods;
    if (node.pods > most) {
      const more = hostNetworkPods === 0n ? " plus its pods with hostNetwork" : "";
      const message = `${plural(node.pods, "pod")} allocatable, but it holds ${decimal(holds)}: drain the node, then set kubelet's maxPods to ${decimal(most)}${more}`;
      found.push(finding("max-pods", smallest, message));
    }
  }
  return found;
}

/** The smallest podCIDR around each address of a node that is in one. */
function podCidrsAround(nodes: readonly ClusterNode[]): ReadonlyMap<Address, PodCidr> {
  const found = new Map<Address, PodCidr>();
  const places = nodes.flatMap(({ cidrs, addresses }): (PodCidr | AddressRange)[] => [
    ...cidrs,
    ...addresses.map((address) => ({ first: address, last: address })),
  ]);
  const isPodCidr = (place: PodCidr | AddressRange): place is PodCidr => "length" in place;
  for (const { members, around } of groupCidrs(places)) {
    const podCidr = members.find(isPodCidr) ?? around?.members.find(isPodCidr);
    if (podCidr === undefined) continue;
    for (const place of members) if (!isPodCidr(place)) found.set(place.first, podCidr);
  }
  return found;
}

function addressProblems(
  node: ClusterNode,
  address: Address,
  podCidr: PodCidr | undefined,
  { clusters }: Expectation,
): readonly NodeFinding[] {
  const text = formatAddress(address);
  if (podCidr !== undefined) {
    const message = `${text} is in the podCIDR of ${podCidr.node.name}`;
    return [finding("node-address", { node, text: podCidr.text }, message)];
  }
  return clusters
    .filter((cluster) => isWithin(address, cluster))
    .map((cluster) =>
      finding(
        "node-address",
        { node, text: "" },
        `${text} is in the cluster CIDR ${formatPrefix(cluster)}`,
      ),
    );
}

/**
 * Why kube-controller-manager does not accept a podCIDR; `undefined` where it does, also one that contains the cluster CIDR.
 * It compares a node's first podCIDR with the first cluster CIDR, the second with the second (kubernetes, `occupyCIDRs` of
 * range_allocator.go).
 *
 * @param index of the podCIDR, in the order of the node
 */
function outsideProblem(
  cidr: PodCidr,
  index: number,
  clusters: Expectation["clusters"],
): string | undefined {
  const own = clusters[index];
  if (clusters.length === 0 || (own !== undefined && overlaps(cidr, own))) return undefined;
  const other = clusters.find((cluster) => overlaps(cidr, cluster));
  if (other === undefined) return `not in ${clusters.map(formatPrefix).join(",")}`;
  const compared = own === undefined ? "no cluster CIDR" : formatPrefix(own);
  return `as its podCIDR ${index + 1} compared with ${compared}, not with ${formatPrefix(other)}`;
}

function finding(
  code: FindingCode,
  { node, text }: Pick<PodCidr, "node" | "text">,
  message: string,
): NodeFinding {
  const severity = code === "mask-size" || code === "max-pods" ? "warning" : "error";
  return { code, severity, node, podCidr: text, message };
}

/** Other podCIDRs with their nodes, such as `10.244.1.0/24 of node-1 and 254 other podCIDRs`. */
function describe(groups: readonly CidrGroup<PodCidr>[], cidr: PodCidr): string {
  const [{ members } = { members: [] }, ...others] = groups;
  const [sample] = members;
  if (sample === undefined) return "";
  const network = formatPrefix({ address: sample.first, length: sample.length, mapped: false });
  const count = others.reduce((sum, group) => sum + group.members.length, 0);
  const more = count === 0 ? "" : ` and ${plural(count, "other podCIDR")}`;
  return `${network} of ${nodesOf(members, cidr)}${more}`;
}

/** The nodes that have one podCIDR, without that of `cidr` if this is the same. */
function nodesOf(members: readonly PodCidr[], cidr: PodCidr): string {
  // Thousands of nodes may have the same podCIDR, and each has a message that names others.
  const named = members
    .slice(0, NAMED + 1)
    .filter((member) => member !== cidr)
    .slice(0, NAMED)
    .map(({ node }) => node.name);
  const others = members.length - (members.includes(cidr) ? 1 : 0) - named.length;
  return `${named.join(", ")}${others > 0 ? ` and ${plural(others, "other node")}` : ""}`;
}

/** The podCIDR with the fewest addresses comes first. */
function bySize(a: PodCidr, b: PodCidr): number {
  return bitsOf(a.family) - a.length - (bitsOf(b.family) - b.length);
}
