/** The nodes' blocks, read, and the settings that they are held against. */

import type { Address, AddressRange, Family } from "../../ipam/address.ts";
import { addressRangeOf, formatPrefix, type Prefix, parsePrefix } from "../../ipam/prefix.ts";
import type { ClusterNode } from "./node-list.ts";
import { longestNodeMask } from "./node-mask.ts";

/** A block of a node. */
export interface PodCidr extends AddressRange {
  readonly node: ClusterNode;
  /** As it is written. */
  readonly text: string;
  readonly family: Family;
  readonly length: number;
  /** Why this plugin would refuse it; empty where it would not. */
  readonly fault: string;
}

/** A node, with its blocks; a podCIDR that is no network at all is none of them. */
export interface NodeCidrs {
  readonly node: ClusterNode;
  readonly cidrs: readonly PodCidr[];
  /** Such as `10.244.1.0`. */
  readonly unreadable: readonly string[];
}

/** A cluster CIDR, with all its addresses. */
export interface ClusterCidr extends Prefix, AddressRange {}

/** What the nodes are held against. */
export interface Expectation {
  /** In the order of the option; none where it was not given. */
  readonly clusters: readonly ClusterCidr[];
  readonly masks: readonly ExpectedMask[];
  /** Each node should have a podCIDR of each of these. */
  readonly families: readonly Family[];
}

/** The prefix length that blocks of a family should have. */
export interface ExpectedMask {
  readonly family: Family;
  readonly nodeMask: number;
  /** Whether an option says so, most blocks have it, or, where there are none, kube-controller-manager takes it. */
  readonly source: "option" | "commonest" | "default";
}

/** Reads a node's blocks. */
export function parseNodeCidrs(node: ClusterNode): NodeCidrs {
  const cidrs: PodCidr[] = [];
  const unreadable: string[] = [];
  for (const text of node.podCidrs) {
    const prefix = parsePrefix(text);
    if (prefix === undefined || prefix.mapped) {
      unreadable.push(text);
      continue;
    }
    const { length } = prefix;
    const { family } = prefix.address;
    const { first, last } = addressRangeOf(prefix);
    cidrs.push({ node, text, family, length, first, last, fault: faultOf(prefix, first) });
  }
  return { node, cidrs, unreadable };
}

/** The same checks as those of a range's subnet, see `makeRange`. */
function faultOf(prefix: Prefix, first: Address): string {
  const { family } = prefix.address;
  if (first.value !== prefix.address.value) {
    return `it is not a network's own address, that is ${formatPrefix({ ...prefix, address: first })}`;
  }
  return prefix.length > longestNodeMask(family) ? "it is too small to hold a pod" : "";
}

/**
 * The node mask of a family that most of its blocks have; of several the longest.
 *
 * @returns `undefined` where there are none
 */
export function commonestMask(cidrs: readonly PodCidr[], family: Family): number | undefined {
  const counts = new Map<number, number>();
  for (const cidr of cidrs) {
    if (cidr.family === family) counts.set(cidr.length, (counts.get(cidr.length) ?? 0) + 1);
  }
  const [commonest] = [...counts].sort(([a, many], [b, more]) => more - many || b - a);
  return commonest?.[0];
}

/** The families of which more than half of the nodes that have any podCIDR have one. */
export function usualFamilies(nodes: readonly NodeCidrs[]): readonly Family[] {
  const withPodCidr = nodes.filter(({ cidrs }) => cidrs.length > 0);
  return ([4, 6] as const).filter((family) => {
    const having = withPodCidr.filter(({ cidrs }) => cidrs.some((cidr) => cidr.family === family));
    return having.length * 2 > withPodCidr.length;
  });
}
