/** What does not fit in a plan, and what to choose instead. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import { longestNodeMask, MAX_IPV6_NODE_BITS } from "../nodes/node-mask.ts";
import { serviceOverlap, startFault } from "../nodes/obstacles.ts";
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
  const notStarting = startFault(family, clusterLength, nodeMask, where);
  if (notStarting !== undefined) faults.push(notStarting);
  if (request.nodes !== undefined && nodes < request.nodes) {
    found(
      "too-many-nodes",
      `${plural(request.nodes, "node")} ${doNotFit(request.nodes)}: there ${verbFor(nodes, "is", "are")} ${plural(nodes, "podCIDR")} of /${nodeMask}, so ${plural(request.nodes - nodes, "node")} would get no podCIDR`,
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
      `${plural(request.pods, "pod")} per node ${doNotFit(request.pods)}: a podCIDR of /${nodeMask} holds ${decimal(pods)}`,
    );
  }
  return faults;
}

/** What satisfies the request: another node mask, or a larger cluster CIDR, best with the node mask given. */
function alternativesTo(request: CidrRequest, layout: CidrLayout): string {
  const { family, cluster } = request;
  const { nodes } = layout;
  const anyMask = { ...request, nodeMask: undefined };
  const anyCluster = { cluster: undefined, nodes: request.nodes ?? nodes };
  const [otherMask] = fitting(anyMask);
  const isReduced = cluster && serviceOverlap(cluster, layout.nodeMask, layout.serviceCidrs);
  const [larger] = fitting({ ...request, ...anyCluster }, { ...anyMask, ...anyCluster }).filter(
    ({ clusterLength }) =>
      // Outside the service CIDR, a cluster CIDR of any length holds the nodes; but there is only one private /8.
      isReduced
        ? family === 6 || clusterLength > LARGEST_PRIVATE
        : cluster === undefined || clusterLength < cluster.length,
  );
  const choices = [otherMask, larger].flatMap((choice) =>
    choice === undefined ? [] : [choiceText(choice)],
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

function choiceText(layout: CidrLayout): string {
  const { family, cluster, clusterLength, serviceCidrs, nodeMask, nodes, pods } = layout;
  const hasServices = serviceCidrs.some(({ address }) => address.family === family);
  const where = hasServices ? " outside the service CIDR" : "";
  const settings = cluster === undefined ? `a cluster CIDR of /${clusterLength}${where} with ` : "";
  return `${settings}a node mask of /${nodeMask} (${plural(nodes, "node")} of ${plural(pods, "pod")})`;
}

/** The podCIDRs that no node gets because they overlap a service CIDR. */
export function serviceProblems(layouts: readonly CidrLayout[]): readonly Problem[] {
  return layouts.flatMap(({ family, cluster, serviceCidrs, nodeMask }) => {
    const overlap = cluster && serviceOverlap(cluster, nodeMask, serviceCidrs);
    if (overlap === undefined) return [];
    const { services, left, message } = overlap;
    const rest =
      left === 0n
        ? "no node gets one"
        : `${plural(left, "node")} ${verbFor(left, "gets", "get")} one`;
    const unknown =
      services.length > 1
        ? "; of several service CIDRs it knows only that of its --service-cluster-ip-range, and assigns podCIDRs that overlap the others"
        : "";
    return [
      {
        code: "service-cidr",
        family,
        message: `${message}: kube-controller-manager assigns none of these, so ${rest}${unknown}`,
        instead: "a cluster CIDR and a service CIDR that do not overlap",
      },
    ];
  });
}

function doNotFit(count: bigint): string {
  return verbFor(count, "does not fit", "do not fit");
}
