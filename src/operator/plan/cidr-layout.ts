/** From what is known of a cluster's numbering to the rest of it, and whether it fits together. */

import { formatPrefix } from "../../ipam/prefix.ts";
import {
  bitsFor,
  DEFAULT_NODE_MASK,
  longestNodeMask,
  MAX_IPV6_NODE_BITS,
  maskForPods,
  nodesIn,
  podsIn,
} from "../cluster/node-mask.ts";
import { plural } from "../output/plural.ts";
import { alternativesTo, LARGEST_PRIVATE, masksFor } from "./alternatives.ts";
import type { CidrLayout, CidrRequest } from "./cidr-request.ts";
import type { Problem } from "./problem.ts";

/** Works out the rest; where nothing fits, the nearest that can be shown. */
export function layOutCidrs(request: CidrRequest): CidrLayout {
  const { family, cluster, nodes } = request;
  const nodeMask = request.nodeMask ?? chooseMask(request);
  const clusterLength =
    cluster?.length ?? (nodes === undefined ? undefined : Math.max(0, nodeMask - bitsFor(nodes)));
  return {
    family,
    cluster,
    clusterLength,
    nodeMask,
    nodes: clusterLength === undefined ? undefined : nodesIn(clusterLength, nodeMask),
    pods: podsIn(family, nodeMask),
  };
}

/** What does not fit together. */
export function problemsOf(request: CidrRequest, layout: CidrLayout): readonly Problem[] {
  const { family, nodeMask, clusterLength } = layout;
  const where = layout.cluster === undefined ? "" : ` ${formatPrefix(layout.cluster)}`;
  const problems: Problem[] = [];
  const found = (code: string, message: string): void => {
    problems.push({ code, family, message, instead: alternativesTo(request, layout) });
  };
  if (nodeMask > longestNodeMask(family)) {
    found("block-too-small", `a block of /${nodeMask} holds no pod`);
  }
  if (clusterLength !== undefined && nodeMask < clusterLength) {
    found(
      "mask-too-short",
      `the cluster CIDR${where} is smaller than one block of /${nodeMask}: kube-controller-manager does not start`,
    );
  } else if (
    family === 6 &&
    clusterLength !== undefined &&
    nodeMask - clusterLength > MAX_IPV6_NODE_BITS
  ) {
    found(
      "too-many-blocks",
      `the node mask /${nodeMask} is more than ${MAX_IPV6_NODE_BITS} bits longer than the cluster's, /${clusterLength}: kube-controller-manager does not start`,
    );
  }
  if (request.nodes !== undefined && layout.nodes !== undefined && layout.nodes < request.nodes) {
    found(
      "too-many-nodes",
      `${plural(request.nodes, "node")} do not fit: there are ${plural(layout.nodes, "block")} of /${nodeMask}, so ${plural(request.nodes - layout.nodes, "node")} would get no podCIDR`,
    );
  }
  if (
    family === 4 &&
    request.cluster === undefined &&
    clusterLength !== undefined &&
    clusterLength < LARGEST_PRIVATE
  ) {
    problems.push({
      code: "no-private-network",
      family,
      message: `a cluster CIDR of /${clusterLength} is larger than any private network; the largest is 10.0.0.0/${LARGEST_PRIVATE}`,
      instead: "fewer nodes, fewer pods a node, or IPv6",
    });
  }
  if (request.pods !== undefined && layout.pods < request.pods) {
    found(
      "too-many-pods",
      `${plural(request.pods, "pod")} a node do not fit: a block of /${nodeMask} holds ${layout.pods}`,
    );
  }
  return problems;
}

function chooseMask(request: CidrRequest): number {
  const { family, cluster, nodes, pods } = request;
  const usual = DEFAULT_NODE_MASK[family];
  if (cluster === undefined) {
    const longest = maskForPods(family, pods ?? 1n) ?? 0;
    return family === 4 ? longest : Math.min(usual, longest);
  }
  const { shortest, longest } = masksFor(request, cluster.length);
  if (shortest > longest) {
    return Math.min(Math.max(longest, cluster.length), longestNodeMask(family));
  }
  // IPv6 has plenty of both: as usual. Else the largest blocks for so many nodes, or the smallest for so many pods.
  if (family === 6 && usual >= shortest && usual <= longest) return usual;
  if (nodes !== undefined && pods === undefined) return shortest;
  if (pods !== undefined && nodes === undefined) return longest;
  return Math.min(Math.max(usual, shortest), longest);
}
