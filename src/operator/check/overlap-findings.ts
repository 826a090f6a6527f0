/** Findings on networks that may hand out the same address. */

import { type AddressRange, addressAt, formatAddressRange } from "../../ipam/address.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import { type NetworkDirectory, rangesOf, sourcesOf } from "../node/network-directories.ts";
import type { Finding } from "./finding.ts";

/** The intersection of two windows; `undefined` if they are disjoint. */
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
  directories: readonly DirectoryContents[],
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const configured = directories.filter(({ directory }) => sourcesOf(directory).length > 0);
  return configured.flatMap((contents, index) =>
    configured
      .slice(index + 1)
      .filter((other) => isSelected(contents.directory) || isSelected(other.directory))
      .flatMap((other) => [...rangeFindings(contents, other), ...addressFindings(contents, other)]),
  );
}

function rangeFindings(
  { directory }: DirectoryContents,
  { directory: other }: DirectoryContents,
): readonly Finding[] {
  const windows = rangesOf(directory).flatMap((range) =>
    rangesOf(other).flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(windows.map(formatAddressRange))].map((addressRange) => ({
    code: "overlapping-ranges" as const,
    network: directory.location.network,
    path: sourcesOf(directory).join(", "),
    message: `${addressRange} is in the networks ${nameOf(directory)} and ${nameOf(other)} (${sourcesOf(other).join(", ")})`,
  }));
}

function addressFindings(
  { directory, reservations }: DirectoryContents,
  { directory: other, reservations: others }: DirectoryContents,
): readonly Finding[] {
  const names = new Set(others.map(({ name }) => name));
  return reservations
    .filter(({ name }) => names.has(name))
    .map(({ name, path }) => ({
      code: "address-in-two-networks" as const,
      network: directory.location.network,
      path,
      message: `${name} is taken in the networks ${nameOf(directory)} and ${nameOf(other)}`,
    }));
}

function nameOf({ location }: NetworkDirectory): string {
  return location.network;
}
