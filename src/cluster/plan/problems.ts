/** What does not fit in a plan, and what to choose instead. */

import { plural } from "../../cli/output/plural.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import { longestNodeMask, MAX_IPV6_NODE_BITS } from "../nodes/node-mask.ts";
import { layOutCidrs } from "./cidr-layout.ts";
import type { CidrLayout, CidrRequest, Problem, ProblemCode } from "./cidr-request.ts";

/** The prefix length of the largest private IPv4 network, 10.0.0.0/8. */
const LARGEST_PRIVATE = 8;

/** What does not fit. */
export function problemsOf(request: CidrRequest, layout: CidrLayout): readonly Problem[] {
  const faults = faultsOf(request, layout);
  if (faults.length === 0) return [];
  const instead = alternativesTo(request, layout);
  return faults.map((fault) => ({ ...fault, family: layout.family, instead }));
}

function faultsOf(
  request: CidrRequest,
  { family, cluster, clusterLength, nodeMask, nodes, pods }: CidrLayout,
): readonly Pick<Problem, "code" | "message">[] {
  const where = cluster === undefined ? "" : ` ${formatPrefix(cluster)}`;
  const faults: Pick<Problem, "code" | "message">[] = [];
  const found = (code: ProblemCode, message: string): void => {
    faults.push({ code, message });
  };
  if (nodeMask > longestNodeMask(family)) {
    found(
      "pod-cidr-too-small",
      `a podCIDR of /${nodeMask} has no address for a gateway: ${plural(pods, "pod")} would get an address, but no way out of the node`,
    );
  }
  if (nodeMask < clusterLength) {
    found(
      "mask-too-short",
      `the cluster CIDR${where} is smaller than one podCIDR of /${nodeMask}: kube-controller-manager does not start`,
    );
  }
  if (family === 6 && nodeMask - clusterLength > MAX_IPV6_NODE_BITS) {
    found(
      "too-many-pod-cidrs",
      `the node mask /${nodeMask} is more than ${MAX_IPV6_NODE_BITS} bits longer than the prefix of the cluster CIDR, /${clusterLength}: kube-controller-manager does not start`,
    );
  }
  if (request.nodes !== undefined && nodes < request.nodes) {
    found(
      "too-many-nodes",
      `${plural(request.nodes, "node")} do not fit: there are ${plural(nodes, "podCIDR")} of /${nodeMask}, so ${plural(request.nodes - nodes, "node")} would get no podCIDR`,
    );
  }
  if (family === 4 && cluster === undefined && clusterLength < LARGEST_PRIVATE) {
    found(
      "no-private-network",
      `a cluster CIDR of /${clusterLength} is larger than any private network; the largest is 10.0.0.0/${LARGEST_PRIVATE}`,
    );
  }
  if (request.pods !== undefined && pods < request.pods) {
    found(
      "too-many-pods",
      `${plural(request.pods, "pod")} per node do not fit: a podCIDR of /${nodeMask} holds ${decimal(pods)}`,
    );
  }
  return faults;
}

/** What satisfies the request: another node mask, or a larger cluster CIDR, best with the node mask given. */
function alternativesTo(request: CidrRequest, { nodes }: CidrLayout): string {
  const { family, cluster } = request;
  const anyMask = { ...request, nodeMask: undefined };
  const anyCluster = { cluster: undefined, nodes: request.nodes ?? nodes };
  const [otherMask] = fitting(anyMask);
  const [larger] = fitting({ ...request, ...anyCluster }, { ...anyMask, ...anyCluster }).filter(
    ({ clusterLength }) => cluster === undefined || clusterLength < cluster.length,
  );
  const choices = [otherMask, larger].flatMap((one) =>
    one === undefined ? [] : [choiceText(one)],
  );
  if (choices.length > 0) return [...new Set(choices)].join(", or ");
  return family === 4
    ? "fewer nodes, fewer pods per node, or IPv6; no private IPv4 network has enough addresses"
    : `fewer nodes or fewer pods per node; kube-controller-manager assigns at most ${2 ** MAX_IPV6_NODE_BITS} IPv6 podCIDRs`;
}

function fitting(...requests: readonly CidrRequest[]): readonly CidrLayout[] {
  return requests.flatMap((request) => {
    const layout = layOutCidrs(request);
    return faultsOf(request, layout).length === 0 ? [layout] : [];
  });
}

function choiceText({ cluster, clusterLength, nodeMask, nodes, pods }: CidrLayout): string {
  const settings = cluster === undefined ? `a cluster CIDR of /${clusterLength} with ` : "";
  return `${settings}a node mask of /${nodeMask} (${plural(nodes, "node")} of ${plural(pods, "pod")})`;
}
