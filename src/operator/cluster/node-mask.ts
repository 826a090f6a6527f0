/** How kube-controller-manager cuts a cluster CIDR into one block a node: arithmetic, exact for IPv6, too. */

import { bitsOf, type Family } from "../../ipam/address.ts";

/** The node masks that kube-controller-manager takes where it is told none. */
export const DEFAULT_NODE_MASK: Readonly<Record<Family, number>> = { 4: 24, 6: 64 };

/**
 * An IPv6 node mask may be longer than the cluster's by so many bits; with more kube-controller-manager does not start,
 * since it keeps a bitmap of all blocks (kubernetes, pkg/controller/nodeipam/ipam/cidrset, `clusterSubnetMaxDiff`).
 */
export const MAX_IPV6_NODE_BITS = 16;

/** kubelet's `--max-pods` where it is told nothing. */
export const DEFAULT_MAX_PODS = 110n;

/** kubelet's `--max-pods` is an int32. */
export const MAX_MAX_PODS = 2_147_483_647n;

/** The longest node mask whose block holds a pod: of a smaller one this plugin hands out nothing. */
export function longestNodeMask(family: Family): number {
  return bitsOf(family) - 2;
}

/** The longest node mask that kube-controller-manager takes for a cluster CIDR, and that holds a pod. */
export function longestMaskIn(family: Family, clusterLength: number): number {
  const longest = longestNodeMask(family);
  return family === 4 ? longest : Math.min(longest, clusterLength + MAX_IPV6_NODE_BITS);
}

/**
 * How many pods a node's block holds: all its addresses but the network's, the gateway's and, for IPv4 only, the
 * broadcast's.
 */
export function podsIn(family: Family, nodeMask: number): bigint {
  if (nodeMask > longestNodeMask(family)) return 0n;
  return 2n ** BigInt(bitsOf(family) - nodeMask) - keptBack(family);
}

/** How many blocks a cluster CIDR is cut into: as many nodes get a podCIDR. */
export function nodesIn(clusterLength: number, nodeMask: number): bigint {
  return nodeMask < clusterLength ? 0n : 2n ** BigInt(nodeMask - clusterLength);
}

/** The longest node mask, so the smallest block, that holds so many pods; `undefined` where none does. */
export function maskForPods(family: Family, pods: bigint): number | undefined {
  const mask = bitsOf(family) - Math.max(2, bitsFor(pods + keptBack(family)));
  return mask < 0 ? undefined : mask;
}

/** How many bits tell so many things apart. */
export function bitsFor(count: bigint): number {
  return count <= 1n ? 0 : (count - 1n).toString(2).length;
}

/** The least of some numbers; 0 of none. */
export function leastOf(numbers: readonly bigint[]): bigint {
  const [first = 0n, ...others] = numbers;
  return others.reduce((least, one) => (one < least ? one : least), first);
}

function keptBack(family: Family): bigint {
  return family === 4 ? 3n : 2n;
}
