/** What to choose instead of settings that do not fit. */

import { plural } from "../../cli/output/plural.ts";
import {
  bitsFor,
  DEFAULT_NODE_MASK,
  longestMaskIn,
  MAX_IPV6_NODE_BITS,
  maskForPods,
  podsIn,
} from "../nodes/node-mask.ts";
import { podCidrCount } from "../nodes/pod-cidr-count.ts";
import type { CidrLayout, CidrRequest } from "./cidr-request.ts";

/** The prefix length of the largest private IPv4 network, 10.0.0.0/8. */
export const LARGEST_PRIVATE = 8;

/** A range of node masks; empty where `shortest` is greater than `longest`. */
interface MaskRange {
  readonly shortest: number;
  readonly longest: number;
}

/** The node masks that satisfy the request in a cluster CIDR of a prefix length. */
export function masksFor(request: CidrRequest, clusterLength: number): MaskRange {
  const { family, nodes = 1n, pods = 1n } = request;
  const longest = Math.min(longestMaskIn(family, clusterLength), maskForPods(family, pods) ?? -1);
  let shortest = clusterLength + bitsFor(nodes);
  while (shortest <= longest && podCidrCount(request, clusterLength, shortest) < nodes) shortest++;
  return { shortest, longest };
}

/** What would satisfy the request: another node mask, or another cluster CIDR. */
export function alternativesTo(request: CidrRequest, layout: CidrLayout): string {
  const { family, cluster, pods = 1n } = request;
  if (layout.clusterLength === undefined) {
    const mask = maskForPods(family, pods);
    if (mask !== undefined) {
      return `a node mask of /${mask} (${plural(podsIn(family, mask), "pod")})`;
    }
  }
  const choices: string[] = [];
  if (cluster !== undefined) {
    const { shortest, longest } = masksFor(request, cluster.length);
    if (shortest <= longest) {
      const mask = Math.min(Math.max(layout.nodeMask, shortest), longest);
      choices.push(`a node mask of /${mask} (${capacityOf(request, cluster.length, mask)})`);
    }
  }
  const larger = largerCluster(request, layout);
  const isPublic = family === 4 && larger !== undefined && larger.length < LARGEST_PRIVATE;
  if (larger !== undefined && !(isPublic && choices.length > 0)) {
    const { length, mask } = larger;
    const note = isPublic ? "; no private IPv4 network is as large, but IPv6 networks are" : "";
    choices.push(
      `a cluster CIDR of /${length} with a node mask of /${mask} (${capacityOf(request, length, mask)})${note}`,
    );
  }
  if (choices.length > 0) return choices.join(", or ");
  return family === 4
    ? "fewer nodes, fewer pods per node, or IPv6; IPv4 does not have enough addresses"
    : `fewer nodes or fewer pods per node; kube-controller-manager assigns at most ${2 ** MAX_IPV6_NODE_BITS} IPv6 podCIDRs`;
}

/** The smallest cluster CIDR that holds all nodes, with the present node mask if that holds the pods. */
function largerCluster(
  request: CidrRequest,
  layout: CidrLayout,
): { readonly length: number; readonly mask: number } | undefined {
  const { family, nodes, pods } = request;
  const { nodeMask = pods === undefined ? DEFAULT_NODE_MASK[family] : undefined } = request;
  const longest = maskForPods(family, pods ?? 1n);
  if (longest === undefined) return undefined;
  const mask = Math.min(nodeMask ?? layout.nodeMask, longest);
  const most = family === 4 ? 32 : MAX_IPV6_NODE_BITS;
  const nodeBits =
    nodes === undefined ? Math.min(bitsFor(layout.nodes ?? 1n), most) : bitsFor(nodes);
  let length = mask - nodeBits;
  while (length > 0 && podCidrCount(request, length, mask) < (nodes ?? 1n)) length--;
  if (length < 0 || mask > longestMaskIn(family, length)) return undefined;
  return { length, mask };
}

function capacityOf(request: CidrRequest, clusterLength: number, nodeMask: number): string {
  const nodes = podCidrCount(request, clusterLength, nodeMask);
  return `${plural(nodes, "node")} of ${plural(podsIn(request.family, nodeMask), "pod")}`;
}
