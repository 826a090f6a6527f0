/** How many nodes and pods fit into a cluster CIDR, of which kube-controller-manager gives each node a part. */

import { bitsOf, type Family } from "../../ipam/address.ts";

/** kube-controller-manager's default node masks. */
export const DEFAULT_NODE_MASK: Readonly<Record<Family, number>> = { 4: 24, 6: 64 };

/**
 * How many bits longer than the prefix of an IPv6 cluster CIDR its node mask may be. With more kube-controller-manager
 * does not start, since it keeps a bitmap of all podCIDRs (kubernetes, pkg/controller/nodeipam/ipam/cidrset,
 * `clusterSubnetMaxDiff`).
 */
export const MAX_IPV6_NODE_BITS = 16;

/** The default of kubelet's `maxPods`. */
export const DEFAULT_MAX_PODS = 110n;

/** The largest value of kubelet's `maxPods`, an int32. */
export const MAX_MAX_PODS = 2_147_483_647n;

/** The longest node mask that leaves room for a gateway and a pod: a smaller subnet has no gateway. */
export function longestNodeMask(family: Family): number {
  return bitsOf(family) - 2;
}

/** The longest node mask that kube-controller-manager accepts for a cluster CIDR, and that leaves room for a gateway. */
export function longestMaskIn(family: Family, clusterLength: number): number {
  const longest = longestNodeMask(family);
  return family === 4 ? longest : Math.min(longest, clusterLength + MAX_IPV6_NODE_BITS);
}

/**
 * How many pods a podCIDR holds: one for each address except the network address, the gateway and, with IPv4, the broadcast
 * address. A podCIDR of one or two addresses has none of these, see `makeRange`.
 */
export function podsIn(family: Family, nodeMask: number): bigint {
  const size = 2n ** BigInt(bitsOf(family) - nodeMask);
  return nodeMask > longestNodeMask(family) ? size : size - reservedAddresses(family);
}

/** How many podCIDRs a cluster CIDR holds: as many nodes get one. */
export function nodesIn(clusterLength: number, nodeMask: number): bigint {
  return nodeMask < clusterLength ? 0n : 2n ** BigInt(nodeMask - clusterLength);
}

/** The node mask of the smallest podCIDR with a gateway that holds a number of pods; `undefined` where none does. */
export function maskForPods(family: Family, pods: bigint): number | undefined {
  const mask = bitsOf(family) - Math.max(2, bitsFor(pods + reservedAddresses(family)));
  return mask < 0 ? undefined : mask;
}

/** How many bits it takes to number `count` things. */
export function bitsFor(count: bigint): number {
  let bits = 0;
  for (let rest = count - 1n; rest > 0n; rest >>= 1n) bits++;
  return bits;
}

/** The smallest of the numbers; 0 without any. */
export function leastOf(numbers: readonly bigint[]): bigint {
  const [first = 0n, ...others] = numbers;
  return others.reduce((a, b) => (b < a ? b : a), first);
}

function reservedAddresses(family: Family): bigint {
  return family === 4 ? 3n : 2n;
}
