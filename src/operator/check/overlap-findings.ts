/** Findings on networks that may hand out the same address on one link, or to which the node has the same route. */

import { formatAddressRange, intersectionOf } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { areApart, areRouted } from "../judgements/are-apart.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { describeHolder } from "./holder.ts";

/** Compares every two configured networks whose pods may meet, or to which the node has routes. */
export function overlapFindings(node: Node): readonly Finding[] {
  const isAsked = (one: NetworkDirectory): boolean => node.asked.includes(one);
  const configured = node.directories.filter(({ sources }) => sources.length > 0);
  return configured.flatMap((one, index) =>
    configured
      .slice(index + 1)
      .filter((other) => isAsked(one) || isAsked(other))
      .flatMap((other) => {
        if (!areApart(one, other)) return compareNetworks(node, one, other);
        return areRouted(one, other) ? sharedRanges(one, other).map(ofRoutes) : [];
      }),
  );
}

/** Addresses that are held in both are the worse finding on the same ranges. */
function compareNetworks(
  node: Node,
  one: NetworkDirectory,
  other: NetworkDirectory,
): readonly Finding[] {
  const about = { code: "overlapping-ranges", network: one.files.network } as const;
  const byName = new Map(other.reservations.map((reservation) => [reservation.name, reservation]));
  const held = one.reservations.flatMap((reservation): readonly Finding[] => {
    const another = byName.get(reservation.name);
    if (another === undefined) return [];
    const holders = [reservation, another].map(
      (each) => `by ${describeHolder(node, each)} in ${each.network.files.network}`,
    );
    return [
      {
        ...about,
        severity: "error",
        remedy: "give the networks different ranges, then restart one of the pods",
        path: reservation.path,
        file: reservation,
        message: `${reservation.name} is held ${holders.join(" and ")}`,
      },
    ];
  });
  return held.length > 0 ? held : sharedRanges(one, other);
}

/** No pod has an address of the other VLAN, but the node has one route to both. */
function ofRoutes({ message, ...finding }: Finding): Finding {
  return {
    ...finding,
    message: `${message}, each in a VLAN of its own: the node routes an address to one of them alone`,
    remedy:
      "none where no pod needs the node, as its gateway or for probes; otherwise give the networks different subnets",
  };
}

function sharedRanges(one: NetworkDirectory, other: NetworkDirectory): readonly Finding[] {
  const { network } = one.files;
  const shared = one.ranges.flatMap((range) =>
    other.ranges.flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(shared.map(formatAddressRange))].map((addressRange) => ({
    code: "overlapping-ranges",
    network,
    path: one.sources[0] ?? "",
    message: `${addressRange} is in the networks ${network} and ${other.files.network} (${other.sources.join(", ")})`,
  }));
}
