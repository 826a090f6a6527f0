/** Findings on networks that may hand out the same address. */

import { type AddressRange, addressAt, formatAddressRange } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import type { Node } from "../node/node.ts";
import type { Finding } from "./finding.ts";

/** The addresses that are in both ranges; `undefined` if there are none. */
export function intersectionOf(a: AddressRange, b: AddressRange): AddressRange | undefined {
  const { family } = a.first;
  if (family !== b.first.family) return undefined;
  const first = a.first.value > b.first.value ? a.first.value : b.first.value;
  const last = a.last.value < b.last.value ? a.last.value : b.last.value;
  return first > last
    ? undefined
    : { first: addressAt(family, first), last: addressAt(family, last) };
}

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

/** Reservations of the same address are other findings, on whoever uses it. */
function compareNetworks(one: NetworkDirectory, other: NetworkDirectory): readonly Finding[] {
  const shared = one.ranges.flatMap((range) =>
    other.ranges.flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  const { network } = one.files;
  return [...new Set(shared.map(formatAddressRange))].map((addressRange) => ({
    code: "overlapping-ranges",
    network,
    path: one.sources.join(", "),
    message: `${addressRange} is in the networks ${network} and ${other.files.network} (${other.sources.join(", ")})`,
  }));
}
