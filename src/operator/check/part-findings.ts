/** Findings on nodes that hand out the same part of a range, because their podCIDRs overlap. */

import { member, textOf } from "../../cli/command/json-values.ts";
import { overlaps } from "../../ipam/address.ts";
import { isPodCidrOf } from "../../ipam/partition.ts";
import { addressRangeOf, formatPrefix, type Prefix, parsePrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import type { FoundNetwork } from "../node/networks.ts";
import type { Finding } from "./finding.ts";
import { ipFailed, ipOutput } from "./ip-output.ts";

/** A route to a network by way of another machine. */
interface Route {
  readonly to: Prefix;
  readonly via: string;
}

/**
 * Looks for other nodes with the podCIDR of this one, or some of it: the pod network has a route to each node's podCIDR by
 * way of that node. Networks that do without such routes show nothing.
 */
export function partFindings(
  system: OperatorSystem,
  networks: readonly FoundNetwork[],
): readonly Finding[] {
  const divided = networks.flatMap(({ files, partition }) =>
    partition === undefined ? [] : [{ files, partition }],
  );
  if (divided.length === 0) return [];
  const routes = readRoutes(system);
  if (routes === undefined) {
    return ipFailed(
      "whether another node has the same podCIDR is not known: ip -json route failed",
    );
  }
  return divided.flatMap(({ files, partition }) => {
    const { podCidr, clusterCidr, source: path } = partition;
    const own = addressRangeOf(podCidr);
    return routes
      .filter(({ to }) => isPodCidrOf(to, clusterCidr) && overlaps(addressRangeOf(to), own))
      .map(({ to, via }) => ({
        code: "shared-part",
        network: files.network,
        path,
        message: `${formatPrefix(to)} is the podCIDR of another node, via ${via}, and ${formatPrefix(podCidr)} that of this one: both hand out the same addresses`,
      }));
  });
}

/** Those with a next hop; `undefined` where they cannot be read. One to a single address has no prefix length. */
function readRoutes(system: OperatorSystem): readonly Route[] | undefined {
  const ofIpv4 = ipOutput(system, "-4", "route");
  const ofIpv6 = ipOutput(system, "-6", "route");
  if (ofIpv4 === undefined || ofIpv6 === undefined) return undefined;
  return [...ofIpv4, ...ofIpv6].flatMap((route) => {
    const to = parsePrefix(textOf(member(route, "dst")));
    const via = textOf(member(route, "gateway"));
    return to === undefined || via === "" ? [] : [{ to, via }];
  });
}
