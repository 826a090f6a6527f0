/** Findings on networks that may hand out the same address on one link. */

import { formatAddressRange, intersectionOf } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { areApart } from "../judgements/are-apart.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { describeHolder } from "./holder.ts";

/** Compares every two configured networks whose pods may meet. */
export function overlapFindings(node: Node): readonly Finding[] {
  const isAsked = (one: NetworkDirectory): boolean => node.asked.includes(one);
  const configured = node.directories.filter(({ sources }) => sources.length > 0);
  return configured.flatMap((one, index) =>
    configured
      .slice(index + 1)
      .filter((other) => (isAsked(one) || isAsked(other)) && !areApart(one, other))
      .flatMap((other) => compareNetworks(node, one, other)),
  );
}

/** Addresses that are held in both are the worse finding on the same ranges. */
function compareNetworks(
  node: Node,
  one: NetworkDirectory,
  other: NetworkDirectory,
): readonly Finding[] {
  const { network } = one.files;
  const about = { code: "overlapping-ranges", network } as const;
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
  if (held.length > 0) return held;
  const shared = one.ranges.flatMap((range) =>
    other.ranges.flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(shared.map(formatAddressRange))].map((addressRange) => ({
    ...about,
    path: one.sources[0] ?? "",
    message: `${addressRange} is in the networks ${network} and ${other.files.network} (${other.sources.join(", ")})`,
  }));
}
