/** The cluster CIDR and node mask that satisfy a request. */

import { addressRangeOf, type Prefix } from "../../ipam/prefix.ts";
import { countAssignable } from "../nodes/assignable-cidrs.ts";
import {
  bitsFor,
  DEFAULT_NODE_MASK,
  longestMaskIn,
  longestNodeMask,
  maskForPods,
  nodesIn,
  podsIn,
} from "../nodes/node-mask.ts";
import { startFault } from "../nodes/obstacles.ts";
import type { CidrLayout, CidrRequest } from "./cidr-request.ts";

/** Computes what the request leaves open; where nothing fits, the layout that comes nearest. */
export function layOutCidrs(request: CidrRequest): CidrLayout {
  const { family, cluster, serviceCidrs, nodes = 1n } = request;
  const nodeMask = request.nodeMask ?? chooseMask(request);
  const clusterLength = cluster?.length ?? Math.max(0, nodeMask - bitsFor(nodes));
  const isStarting = startFault(family, clusterLength, nodeMask) === undefined;
  return {
    family,
    cluster,
    clusterLength,
    serviceCidrs,
    nodeMask,
    nodes: isStarting ? nodesWith(request, clusterLength, nodeMask) : 0n,
    pods: podsIn(family, nodeMask),
  };
}

/**
 * The number of nodes that get a podCIDR.
 *
 * @param clusterLength the prefix length of the cluster CIDR, if this is not known itself: then none is in a service CIDR
 */
export function nodesWith(
  { cluster, serviceCidrs }: Pick<CidrRequest, "cluster" | "serviceCidrs">,
  clusterLength: number,
  nodeMask: number,
): bigint {
  return cluster === undefined
    ? nodesIn(clusterLength, nodeMask)
    : countAssignable(addressRangeOf(cluster), nodeMask, serviceCidrs);
}

function chooseMask(request: CidrRequest): number {
  const { family, cluster, nodes, pods } = request;
  const byDefault = DEFAULT_NODE_MASK[family];
  const forPods = maskForPods(family, pods ?? 1n) ?? 0;
  if (cluster === undefined) {
    return family === 4 && pods !== undefined ? forPods : Math.min(byDefault, forPods);
  }
  const longest = Math.min(longestMaskIn(family, cluster.length), forPods);
  const shortest = shortestMask(request, cluster, longest);
  if (shortest === undefined) {
    const nearest = Math.min(Math.max(longest, cluster.length), longestNodeMask(family));
    if (nodesWith(request, cluster.length, nearest) > 0n) return nearest;
    // No mask helps where a service CIDR has the whole cluster CIDR.
    return Math.min(Math.max(byDefault, cluster.length), longestMaskIn(family, cluster.length));
  }
  // IPv6 has room for both: the default. Else the largest podCIDRs for the nodes asked for, or the smallest for the pods.
  if (family === 6 && byDefault >= shortest && byDefault <= longest) return byDefault;
  if (nodes !== undefined && pods === undefined) return shortest;
  if (pods !== undefined && nodes === undefined) return longest;
  return Math.min(Math.max(byDefault, shortest), longest);
}

/** The node mask of the largest podCIDRs of which there are enough for the nodes; `undefined` if there are none. */
function shortestMask(request: CidrRequest, cluster: Prefix, longest: number): number | undefined {
  const { nodes = 1n } = request;
  for (let mask = cluster.length + bitsFor(nodes); mask <= longest; mask++) {
    if (nodesWith(request, cluster.length, mask) >= nodes) return mask;
  }
  return undefined;
}
