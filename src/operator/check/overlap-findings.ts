/** Networks that may hand out the same address. */

import { type AddressRange, addressAt, formatAddressRange } from "../../ipam/address.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import { type NetworkDirectory, rangesOf, sourcesOf } from "../node/network-directories.ts";
import type { Finding } from "./finding.ts";

/** What two ranges have in common. */
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
 * Compares each configured place with each other one.
 *
 * @param isWanted of two places that are compared, this must hold for one
 */
export function overlapFindings(
  contents: readonly DirectoryContents[],
  isWanted: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const configured = contents.filter(({ directory }) => sourcesOf(directory).length > 0);
  return configured.flatMap((content, index) =>
    configured
      .slice(index + 1)
      .filter((other) => isWanted(content.directory) || isWanted(other.directory))
      .flatMap((other) => [...rangeFindings(content, other), ...addressFindings(content, other)]),
  );
}

function rangeFindings(
  { directory }: DirectoryContents,
  { directory: other }: DirectoryContents,
): readonly Finding[] {
  const ranges = rangesOf(directory).flatMap((range) =>
    rangesOf(other).flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(ranges.map(formatAddressRange))].map((range) => ({
    code: "overlapping-ranges" as const,
    network: directory.location.network,
    path: sourcesOf(directory).join(", "),
    message: `${range} is in the networks ${nameOf(directory)} and ${nameOf(other)} (${sourcesOf(other).join(", ")})`,
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
