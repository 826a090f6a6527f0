/** The cluster CIDR and node mask that satisfy a request. */

import {
  bitsFor,
  DEFAULT_NODE_MASK,
  longestMaskIn,
  longestNodeMask,
  maskForPods,
  nodesIn,
  podsIn,
} from "../nodes/node-mask.ts";
import type { CidrLayout, CidrRequest } from "./cidr-request.ts";

/** Computes what the request leaves open; where nothing fits, the layout that comes nearest. */
export function layOutCidrs(request: CidrRequest): CidrLayout {
  const { family, cluster, nodes = 1n } = request;
  const nodeMask = request.nodeMask ?? chooseMask(request);
  const clusterLength = cluster?.length ?? Math.max(0, nodeMask - bitsFor(nodes));
  return {
    family,
    cluster,
    clusterLength,
    nodeMask,
    nodes: nodesIn(clusterLength, nodeMask),
    pods: podsIn(family, nodeMask),
  };
}

function chooseMask({ family, cluster, nodes, pods }: CidrRequest): number {
  const byDefault = DEFAULT_NODE_MASK[family];
  const forPods = maskForPods(family, pods ?? 1n) ?? 0;
  if (cluster === undefined) {
    return family === 4 && pods !== undefined ? forPods : Math.min(byDefault, forPods);
  }
  const longest = Math.min(longestMaskIn(family, cluster.length), forPods);
  const shortest = cluster.length + bitsFor(nodes ?? 1n);
  if (shortest > longest) {
    return Math.min(Math.max(longest, cluster.length), longestNodeMask(family));
  }
  // IPv6 has room for both: the default. Else the largest podCIDRs for the nodes asked for, or the smallest for the pods.
  if (family === 6 && byDefault >= shortest && byDefault <= longest) return byDefault;
  if (nodes !== undefined && pods === undefined) return shortest;
  if (pods !== undefined && nodes === undefined) return longest;
  return Math.min(Math.max(byDefault, shortest), longest);
}
