/** What to choose where what is asked for does not fit. */

import type { Family } from "../../ipam/address.ts";
import {
  bitsFor,
  DEFAULT_NODE_MASK,
  longestMaskIn,
  MAX_IPV6_NODE_BITS,
  maskForPods,
  nodesIn,
  podsIn,
} from "../cluster/node-mask.ts";
import { plural } from "../output/plural.ts";
import type { CidrLayout, CidrRequest } from "./cidr-request.ts";

/** No private IPv4 network is larger than 10.0.0.0/8. */
export const LARGEST_PRIVATE = 8;

/** Node masks, the shortest and the longest; none where `shortest` is longer than `longest`. */
interface Masks {
  readonly shortest: number;
  readonly longest: number;
}

/** The node masks that give what is asked for in this cluster CIDR. */
export function masksFor(
  { family, nodes = 1n, pods = 1n }: CidrRequest,
  clusterLength: number,
): Masks {
  return {
    shortest: clusterLength + bitsFor(nodes),
    longest: Math.min(longestMaskIn(family, clusterLength), maskForPods(family, pods) ?? -1),
  };
}

/** What would give all that is asked for: another node mask, or another cluster CIDR. */
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
      choices.push(`a node mask of /${mask} (${capacityOf(family, cluster.length, mask)})`);
    }
  }
  const larger = largerCluster(request, layout);
  const isPublic = family === 4 && larger !== undefined && larger.length < LARGEST_PRIVATE;
  if (larger !== undefined && !(isPublic && choices.length > 0)) {
    const { length, mask } = larger;
    const note = isPublic ? "; no private network is as large, but IPv6 has larger ones" : "";
    choices.push(
      `a cluster CIDR of /${length} with a node mask of /${mask} (${capacityOf(family, length, mask)})${note}`,
    );
  }
  if (choices.length > 0) return choices.join(", or ");
  return family === 4
    ? "fewer nodes or fewer pods a node; IPv4 has no more addresses, IPv6 has"
    : `fewer nodes or fewer pods a node; kube-controller-manager numbers at most ${2 ** MAX_IPV6_NODE_BITS} nodes with IPv6`;
}

/** The smallest cluster CIDR that holds all, with blocks of the present size if they hold the pods. */
function largerCluster(
  {
    family,
    nodes,
    pods,
    nodeMask = pods === undefined ? DEFAULT_NODE_MASK[family] : undefined,
  }: CidrRequest,
  layout: CidrLayout,
): { readonly length: number; readonly mask: number } | undefined {
  const longest = maskForPods(family, pods ?? 1n);
  if (longest === undefined) return undefined;
  const mask = Math.min(nodeMask ?? layout.nodeMask, longest);
  const most = family === 4 ? 32 : MAX_IPV6_NODE_BITS;
  const nodeBits =
    nodes === undefined ? Math.min(bitsFor(layout.nodes ?? 1n), most) : bitsFor(nodes);
  const length = mask - nodeBits;
  if (length < 0 || mask > longestMaskIn(family, length)) return undefined;
  return { length, mask };
}

function capacityOf(family: Family, clusterLength: number, nodeMask: number): string {
  return `${plural(nodesIn(clusterLength, nodeMask), "node")} of ${plural(podsIn(family, nodeMask), "pod")}`;
}
