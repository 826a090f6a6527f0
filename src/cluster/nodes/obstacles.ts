/** What keeps kube-controller-manager from assigning podCIDRs of a cluster CIDR. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { type Family, overlaps } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { addressRangeOf, formatPrefix, type Prefix } from "../../ipam/prefix.ts";
import { countAssignable } from "./assignable-cidrs.ts";
import type { ClusterCidr } from "./node-cidrs.ts";
import { MAX_IPV6_NODE_BITS, nodesIn } from "./node-mask.ts";

/** A reason why kube-controller-manager does not start. */
interface StartFault {
  readonly code: "mask-too-short" | "too-many-pod-cidrs";
  readonly message: string;
}

/**
 * Why kube-controller-manager does not start with a cluster CIDR and a node mask (kubernetes, `NewNodeIpamController` and
 * `NewCIDRSet` of pkg/controller/nodeipam).
 *
 * @param where the cluster CIDR after a space, by default only its length is known
 * @returns `undefined` where it starts
 */
export function startFault(
  family: Family,
  clusterLength: number,
  nodeMask: number,
  where = "",
): StartFault | undefined {
  if (nodeMask < clusterLength) {
    const message = `the cluster CIDR${where} is smaller than one podCIDR of /${nodeMask}: kube-controller-manager does not start`;
    return { code: "mask-too-short", message };
  }
  if (family === 4 || nodeMask - clusterLength <= MAX_IPV6_NODE_BITS) return undefined;
  const message = `the node mask /${nodeMask} is more than ${MAX_IPV6_NODE_BITS} bits longer than the prefix of the cluster CIDR, /${clusterLength}: kube-controller-manager does not start`;
  return { code: "too-many-pod-cidrs", message };
}

/** The podCIDRs of a cluster CIDR that overlap a service CIDR: no node gets one of them. */
export interface ServiceOverlap {
  /** The service CIDRs in, around or equal to the cluster CIDR. */
  readonly services: readonly ClusterCidr[];
  /** How many podCIDRs are left. */
  readonly left: bigint;
  /** The message, such as `1 of 256 podCIDRs of /24 overlaps the service CIDR 10.244.9.0/24`. */
  readonly message: string;
}

/**
 * The podCIDRs of a cluster CIDR that overlap a service CIDR.
 *
 * @param serviceCidrs of either family
 * @returns `undefined` where none does
 */
export function serviceOverlap(
  cluster: Prefix,
  nodeMask: number,
  serviceCidrs: readonly ClusterCidr[],
): ServiceOverlap | undefined {
  const region = addressRangeOf(cluster);
  const all = nodesIn(cluster.length, nodeMask);
  const left = countAssignable(region, nodeMask, serviceCidrs);
  if (left === all) return undefined;
  const services = serviceCidrs.filter((service) => overlaps(service, region));
  const message = `${decimal(all - left)} of ${plural(all, "podCIDR")} of /${nodeMask} ${verbFor(all - left, "overlaps", "overlap")} the service CIDR ${services.map(formatPrefix).join(",")}`;
  return { services, left, message };
}
