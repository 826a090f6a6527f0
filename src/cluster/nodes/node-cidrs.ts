/** The nodes of a cluster with their podCIDRs, and the cluster's settings that they are compared with. */

import type { Address, AddressRange, Family } from "../../ipam/address.ts";
import { addressRangeOf, formatPrefix, type Prefix, parsePrefix } from "../../ipam/prefix.ts";
import { longestNodeMask } from "./node-mask.ts";

/** What this tool reads of a Kubernetes node. */
export interface ClusterNode {
  readonly name: string;
  /** `spec.podCIDRs`, of which the API server accepts one of each family; empty where the node has none. */
  readonly cidrs: readonly PodCidr[];
  /** `status.allocatable.pods`; `undefined` where it is missing. */
  readonly pods: bigint | undefined;
  /** `metadata.creationTimestamp`, such as `2024-05-01T10:00:00Z`; empty where it is missing. */
  readonly created: string;
  /** `status.addresses` of the type InternalIP. */
  readonly addresses: readonly Address[];
  /** Whether it was cordoned (`spec.unschedulable`). */
  readonly isCordoned: boolean;
}

/** A podCIDR of a node. */
export interface PodCidr extends AddressRange {
  readonly node: ClusterNode;
  /** The podCIDR as the node object has it. */
  readonly text: string;
  readonly family: Family;
  readonly length: number;
  /** Why it is of no use as the subnet of a node; empty where it is. */
  readonly fault: string;
}

/** A cluster CIDR, or a service CIDR, with its first and last address. */
export interface ClusterCidr extends Prefix, AddressRange {}

/** The cluster's settings. */
export interface Expectation {
  /** The cluster CIDRs, in the order of the option; empty where it was not given. */
  readonly clusters: readonly ClusterCidr[];
  /** Empty where the option was not given. */
  readonly serviceCidrs: readonly ClusterCidr[];
  readonly masks: readonly ExpectedMask[];
  /** Every node should have a podCIDR of each of these. */
  readonly families: readonly Family[];
  /** How many pods of a node have hostNetwork, and need no address. */
  readonly hostNetworkPods: bigint;
  /** Whether podCIDRs of another size than the mask are replaced that do no harm (`--force`). */
  readonly replacesHarmless: boolean;
}

/** The prefix length that podCIDRs of a family should have. */
export interface ExpectedMask {
  readonly family: Family;
  readonly nodeMask: number;
  /** Given as an option, the one most podCIDRs have, or kube-controller-manager's default. */
  readonly source: "option" | "commonest" | "default";
}

/** Parses a podCIDR; `undefined` where it is no network, such as `10.244.1.0`. */
export function podCidrOf(node: ClusterNode, text: string): PodCidr | undefined {
  const prefix = parsePrefix(text);
  if (prefix === undefined || prefix.mapped) return undefined;
  const { length } = prefix;
  const { family } = prefix.address;
  const { first, last } = addressRangeOf(prefix);
  return { node, text, family, length, first, last, fault: faultOf(prefix, first) };
}

/** This plugin rejects a subnet with host bits, and gives one of one or two addresses no gateway; see `makeRange`. */
function faultOf(prefix: Prefix, first: Address): string {
  const { family } = prefix.address;
  if (first.value !== prefix.address.value) {
    return `it has host bits; the network is ${formatPrefix({ ...prefix, address: first })}`;
  }
  return prefix.length > longestNodeMask(family) ? "it is too small for a gateway and a pod" : "";
}

/**
 * The prefix length that most podCIDRs of a family have; of several the longest.
 *
 * @returns `undefined` where there are no podCIDRs of the family
 */
export function commonestMask(cidrs: readonly PodCidr[], family: Family): number | undefined {
  const counts = new Map<number, number>();
  for (const cidr of cidrs) {
    if (cidr.family === family) counts.set(cidr.length, (counts.get(cidr.length) ?? 0) + 1);
  }
  const [commonest] = [...counts].sort(([a, many], [b, more]) => more - many || b - a);
  return commonest?.[0];
}

/** The families of which more than half of all nodes with a podCIDR have one. */
export function usualFamilies(nodes: readonly ClusterNode[]): readonly Family[] {
  const withPodCidr = nodes.filter(({ cidrs }) => cidrs.length > 0);
  return ([4, 6] as const).filter((family) => {
    const withFamily = withPodCidr.filter(({ cidrs }) =>
      cidrs.some((cidr) => cidr.family === family),
    );
    return withFamily.length * 2 > withPodCidr.length;
  });
}
