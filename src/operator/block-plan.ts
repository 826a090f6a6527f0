/** From what is known of a cluster's numbering to the rest of it, and whether it fits together. */

import type { Family } from "../ipam/address.ts";
import { formatPrefix, type Prefix } from "../ipam/prefix.ts";
import { insteadOf, LARGEST_PRIVATE, masksFor } from "./block-advice.ts";
import { counted } from "./counted.ts";
import {
  bitsFor,
  DEFAULT_NODE_MASK,
  longestNodeMask,
  MOST_IPV6_NODE_BITS,
  maskForPods,
  nodesIn,
  podsIn,
} from "./node-blocks.ts";

/** What is known of one family: two of the four, or more. */
export interface Wish {
  readonly family: Family;
  readonly cluster: Prefix | undefined;
  readonly nodeMask: number | undefined;
  readonly nodes: bigint | undefined;
  readonly pods: bigint | undefined;
}

/** How one family is numbered. */
export interface Layout {
  readonly family: Family;
  readonly cluster: Prefix | undefined;
  /** `undefined` where neither the cluster CIDR nor the number of nodes is known. */
  readonly clusterLength: number | undefined;
  readonly nodeMask: number;
  readonly nodes: bigint | undefined;
  readonly pods: bigint;
}

/** What does not fit, and what to choose instead. */
export interface Problem {
  readonly code: string;
  /** `undefined` where it is not one family's. */
  readonly family: Family | undefined;
  readonly message: string;
  readonly instead: string;
}

/** Works out the rest; where nothing fits, the nearest that can be shown. */
export function layOut(wish: Wish): Layout {
  const { family, cluster, nodes } = wish;
  const nodeMask = wish.nodeMask ?? chooseMask(wish);
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
export function problemsOf(wish: Wish, layout: Layout): readonly Problem[] {
  const { family, nodeMask, clusterLength } = layout;
  const where = layout.cluster === undefined ? "" : ` ${formatPrefix(layout.cluster)}`;
  const problems: Problem[] = [];
  const found = (code: string, message: string): void => {
    problems.push({ code, family, message, instead: insteadOf(wish, layout) });
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
    nodeMask - clusterLength > MOST_IPV6_NODE_BITS
  ) {
    found(
      "too-many-blocks",
      `the node mask /${nodeMask} is more than ${MOST_IPV6_NODE_BITS} bits longer than the cluster's, /${clusterLength}: kube-controller-manager does not start`,
    );
  }
  if (wish.nodes !== undefined && layout.nodes !== undefined && layout.nodes < wish.nodes) {
    found(
      "too-many-nodes",
      `${counted(wish.nodes, "node")} do not fit: there are ${counted(layout.nodes, "block")} of /${nodeMask}, so ${counted(wish.nodes - layout.nodes, "node")} would get no podCIDR`,
    );
  }
  if (
    family === 4 &&
    wish.cluster === undefined &&
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
  if (wish.pods !== undefined && layout.pods < wish.pods) {
    found(
      "too-many-pods",
      `${counted(wish.pods, "pod")} a node do not fit: a block of /${nodeMask} holds ${layout.pods}`,
    );
  }
  return problems;
}

function chooseMask(wish: Wish): number {
  const { family, cluster, nodes, pods } = wish;
  const usual = DEFAULT_NODE_MASK[family];
  if (cluster === undefined) {
    const longest = maskForPods(family, pods ?? 1n) ?? 0;
    return family === 4 ? longest : Math.min(usual, longest);
  }
  const { shortest, longest } = masksFor(wish, cluster.length);
  if (shortest > longest) {
    return Math.min(Math.max(longest, cluster.length), longestNodeMask(family));
  }
  // IPv6 has plenty of both: as usual. Else the largest blocks for so many nodes, or the smallest for so many pods.
  if (family === 6 && usual >= shortest && usual <= longest) return usual;
  if (nodes !== undefined && pods === undefined) return shortest;
  if (pods !== undefined && nodes === undefined) return longest;
  return Math.min(Math.max(usual, shortest), longest);
}
