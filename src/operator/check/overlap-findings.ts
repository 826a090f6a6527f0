/** Findings on networks that may hand out the same address. */

import { formatAddressRange, intersectionOf } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/**
 * Compares every two configured networks.
 *
 * @param isSelected only pairs for one of which this holds
 */
export function overlapFindings(
  { directories }: Node,
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const configured = directories.filter(({ sources }) => sources.length > 0);
  return configured.flatMap((one, index) =>
    configured
      .slice(index + 1)
      .filter((other) => isSelected(one) || isSelected(other))
      .flatMap((other) => compareNetworks(one, other)),
  );
}

/** Addresses that are held in both are the worse finding on the same ranges. */
function compareNetworks(one: NetworkDirectory, other: NetworkDirectory): readonly Finding[] {
  const { network } = one.files;
  const about = { code: "overlapping-ranges", network } as const;
  const networks = `in the networks ${network} and ${other.files.network}`;
  const names = new Set(other.reservations.map(({ name }) => name));
  const held = one.reservations.filter(({ name }) => names.has(name));
  if (held.length > 0) {
    return held.map((reservation) => ({
      ...about,
      severity: "error",
      remedy: "give the networks different ranges, then restart one of the pods",
      path: reservation.path,
      file: reservation,
      message: `${reservation.name} is held ${networks}`,
    }));
  }
  const shared = one.ranges.flatMap((range) =>
    other.ranges.flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(shared.map(formatAddressRange))].map((addressRange) => ({
    ...about,
    path: one.sources[0] ?? "",
    message: `${addressRange} is ${networks} (${other.sources.join(", ")})`,
  }));
}
