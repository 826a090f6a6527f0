/** The cluster CIDR and node mask that satisfy a request, and what does not fit. */

import { plural } from "../../cli/output/plural.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import {
  bitsFor,
  DEFAULT_NODE_MASK,
  longestNodeMask,
  MAX_IPV6_NODE_BITS,
  maskForPods,
  nodesIn,
  podsIn,
} from "../nodes/node-mask.ts";
import { podCidrCount } from "../nodes/pod-cidr-count.ts";
import { alternativesTo, LARGEST_PRIVATE, masksFor } from "./alternatives.ts";
import type { CidrLayout, CidrRequest, Problem } from "./cidr-request.ts";

/** Computes what the request leaves open; where nothing fits, the layout that comes nearest. */
export function layOutCidrs(request: CidrRequest): CidrLayout {
  const { family, cluster, serviceCidrs, nodes } = request;
  const nodeMask = request.nodeMask ?? chooseMask(request);
  const clusterLength =
    cluster?.length ?? (nodes === undefined ? undefined : Math.max(0, nodeMask - bitsFor(nodes)));
  return {
    family,
    cluster,
    serviceCidrs,
    clusterLength,
    nodeMask,
    nodes: clusterLength === undefined ? undefined : podCidrCount(request, clusterLength, nodeMask),
    pods: podsIn(family, nodeMask),
  };
}

/** What does not fit. */
export function problemsOf(request: CidrRequest, layout: CidrLayout): readonly Problem[] {
  const { family, nodeMask, clusterLength } = layout;
  const where = layout.cluster === undefined ? "" : ` ${formatPrefix(layout.cluster)}`;
  const problems: Problem[] = [];
  const found = (code: string, message: string): void => {
    problems.push({ code, family, message, instead: alternativesTo(request, layout) });
  };
  if (nodeMask > longestNodeMask(family)) {
    found(
      "pod-cidr-too-small",
      `a podCIDR of /${nodeMask} has no address for a gateway: ${plural(layout.pods, "pod")} would get an address, but no way out of the node`,
    );
  }
  if (clusterLength !== undefined && nodeMask < clusterLength) {
    found(
      "mask-too-short",
      `the cluster CIDR${where} is smaller than one podCIDR of /${nodeMask}: kube-controller-manager does not start`,
    );
  } else if (
    family === 6 &&
    clusterLength !== undefined &&
    nodeMask - clusterLength > MAX_IPV6_NODE_BITS
  ) {
    found(
      "too-many-pod-cidrs",
      `the node mask /${nodeMask} is more than ${MAX_IPV6_NODE_BITS} bits longer than the prefix of the cluster CIDR, /${clusterLength}: kube-controller-manager does not start`,
    );
  }
  const taken = takenByServices(layout);
  if (taken > 0n && layout.nodes === 0n) {
    problems.push({
      code: "service-cidr",
      family,
      message: `the service CIDR overlaps every podCIDR of the cluster CIDR${where}: no node gets one`,
      instead: "a service CIDR outside the cluster CIDR",
    });
  } else if (
    request.nodes !== undefined &&
    layout.nodes !== undefined &&
    layout.nodes < request.nodes
  ) {
    found(
      "too-many-nodes",
      `${plural(request.nodes, "node")} do not fit: there are ${plural(layout.nodes, "podCIDR")} of /${nodeMask}${taken > 0n ? " beside the service CIDR" : ""}, so ${plural(request.nodes - layout.nodes, "node")} would get no podCIDR`,
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
      instead: "fewer nodes, fewer pods per node, or IPv6",
    });
  }
  if (request.pods !== undefined && layout.pods < request.pods) {
    found(
      "too-many-pods",
      `${plural(request.pods, "pod")} per node do not fit: a podCIDR of /${nodeMask} holds ${decimal(layout.pods)}`,
    );
  }
  return problems;
}

/** How many podCIDRs are not assigned because they overlap the service CIDR. */
export function takenByServices({ clusterLength, nodeMask, nodes }: CidrLayout): bigint {
  if (clusterLength === undefined || nodes === undefined) return 0n;
  return nodesIn(clusterLength, nodeMask) - nodes;
}

function chooseMask(request: CidrRequest): number {
  const { family, cluster, nodes, pods } = request;
  const byDefault = DEFAULT_NODE_MASK[family];
  if (cluster === undefined) {
    const longest = maskForPods(family, pods ?? 1n) ?? 0;
    return family === 4 ? longest : Math.min(byDefault, longest);
  }
  const { shortest, longest } = masksFor(request, cluster.length);
  if (shortest > longest) {
    return Math.min(Math.max(longest, cluster.length), longestNodeMask(family));
  }
  // IPv6 has room for both: the default. Else the largest podCIDRs for the nodes asked for, or the smallest for the pods.
  if (family === 6 && byDefault >= shortest && byDefault <= longest) return byDefault;
  if (nodes !== undefined && pods === undefined) return shortest;
  if (pods !== undefined && nodes === undefined) return longest;
  return Math.min(Math.max(byDefault, shortest), longest);
}
