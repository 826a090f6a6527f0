/** Findings on nodes that hand out the same part of a range, because their podCIDRs overlap. */

import type { Context } from "../../cli/command/command.ts";
import { listOf, member, textOf } from "../../cli/command/json-values.ts";
import { isPodCidrOf, type Partition } from "../../ipam/partition.ts";
import { addressRangeOf, formatPrefix, type Prefix, parsePrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import type { FoundNetwork } from "../node/networks.ts";
import type { Finding } from "./finding.ts";
import { intersectionOf } from "./overlap-findings.ts";

/** A route to a network by way of another machine. */
interface Route {
  readonly to: Prefix;
  readonly via: string;
}

/** The largest output of `ip`, in bytes. */
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/**
 * Looks for other nodes with the podCIDR of this one, or some of it: the pod network has a route to each node's podCIDR by
 * way of that node. Networks that do without such routes show nothing.
 */
export function partFindings(
  { system }: Context,
  networks: readonly FoundNetwork[],
): readonly Finding[] {
  const divided = networks.flatMap(({ files, partition }) =>
    partition === undefined ? [] : [{ files, partition }],
  );
  if (divided.length === 0) return [];
  const routes = readRoutes(system);
  if (routes === undefined) {
    const message = "whether another node has the same podCIDR is not known: ip -json route failed";
    return [{ code: "parts-unknown", files: undefined, path: "", message }];
  }
  return divided.flatMap(({ files, partition }) => {
    const { podCidr, source: path } = partition;
    return routes
      .filter(({ to }) => overlaps(to, partition))
      .map(({ to, via }) => ({
        code: "shared-part",
        files,
        path,
        message: `${formatPrefix(to)} is the podCIDR of another node, via ${via}, and ${formatPrefix(podCidr)} that of this one: both hand out the same addresses`,
      }));
  });
}

function overlaps(to: Prefix, { podCidr, clusterCidr }: Partition): boolean {
  return (
    isPodCidrOf(to, clusterCidr) &&
    intersectionOf(addressRangeOf(to), addressRangeOf(podCidr)) !== undefined
  );
}

/** `undefined` where they cannot be read. */
function readRoutes(system: OperatorSystem): readonly Route[] | undefined {
  try {
    const outputs = (["-4", "-6"] as const).map((family) =>
      system.run(["ip", "-json", family, "route"], LARGEST_OUTPUT),
    );
    if (outputs.some(({ exitCode }) => exitCode !== 0)) return undefined;
    return outputs.flatMap(({ stdout }) => routesIn(stdout));
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
}

/** Those with a next hop, in the output of `ip -json route`; one to a single address has no prefix length. */
function routesIn(text: string): readonly Route[] {
  // Without any route ip prints nothing, or an empty list.
  const routes = listOf(text.trim() === "" ? [] : JSON.parse(text));
  return routes.flatMap((route) => {
    const to = parsePrefix(textOf(member(route, "dst")));
    const via = textOf(member(route, "gateway"));
    return to === undefined || via === "" ? [] : [{ to, via }];
  });
}
