/** Findings on networks that may hand out the same address. */

import { type AddressRange, addressAt, formatAddressRange } from "../../ipam/address.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import type { Node } from "../node/node.ts";
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

/** Addresses that are reserved in both are the worse finding on the same ranges. */
function compareNetworks(one: NetworkDirectory, other: NetworkDirectory): readonly Finding[] {
  const { files, sources } = one;
  const code = "overlapping-ranges";
  const networks = `in the networks ${nameOf(one)} and ${nameOf(other)}`;
  const names = new Set(other.reservations.map(({ name }) => name));
  const taken = one.reservations.filter(({ name }) => names.has(name));
  if (taken.length > 0) {
    return taken.map(({ name, path }) => ({
      code,
      severity: "error",
      remedy: "give the networks different ranges, then restart one of the pods",
      files,
      path,
      isOnFile: true,
      message: `${name} is taken ${networks}`,
    }));
  }
  const windows = one.ranges.flatMap((range) =>
    other.ranges.flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(windows.map(formatAddressRange))].map((addressRange) => ({
    code,
    files,
    path: sources.join(", "),
    message: `${addressRange} is ${networks} (${other.sources.join(", ")})`,
  }));
}

function nameOf({ files }: NetworkDirectory): string {
  return files.network;
}
