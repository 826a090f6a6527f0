/** Findings on networks that may hand out the same address. */

import type { Context } from "../../cli/command/command.ts";
import {
  type AddressRange,
  addressAt,
  formatAddress,
  formatAddressRange,
  isWithin,
} from "../../ipam/address.ts";
import { commandText } from "../node/command-text.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import type { LivenessChecker } from "../node/liveness.ts";
import { type NetworkDirectory, rangesOf, sourcesOf } from "../node/network-directories.ts";
import { containerOf } from "../node/node-reservations.ts";
import type { Pods } from "../node/pods.ts";
import type { Finding } from "./finding.ts";

/** How many pods a message names. */
const MAX_NAMED = 10;

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
    location: directory.location,
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
      location: directory.location,
      path,
      message: `${name} is taken in the networks ${nameOf(directory)} and ${nameOf(other)}`,
    }));
}

/**
 * Compares the directories that nothing configures with the configured ranges: after a network was renamed, the pods from
 * before still have addresses that are handed out again. Reservations of dead containers are ignored.
 *
 * @param isSelected only pairs for one of which this holds
 */
export function formerNetworkFindings(
  context: Context,
  directories: readonly DirectoryContents[],
  pods: Pods,
  { livenessOf }: LivenessChecker,
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const isConfigured = ({ directory }: DirectoryContents): boolean =>
    sourcesOf(directory).length > 0;
  const configured = directories.filter(isConfigured);
  return directories.flatMap((former): readonly Finding[] => {
    if (isConfigured(former)) return [];
    const { location } = former.directory;
    const others = configured.filter(
      ({ directory }) => isSelected(directory) || isSelected(former.directory),
    );
    const namesakes = new Set<string>();
    const users = former.reservations.flatMap((reservation) => {
      const { address, owner } = reservation;
      const found = others.find(({ directory }) =>
        rangesOf(directory).some((range) => isWithin(address, range)),
      );
      if (found === undefined || livenessOf(reservation).liveness === "dead") return [];
      namesakes.add(nameOf(found.directory));
      const holder = pods.of(reservation) || containerOf(owner) || "no container";
      return [`${formatAddress(address)} (${holder})`];
    });
    if (users.length === 0) return [];
    const more = users.length > MAX_NAMED ? ` and ${users.length - MAX_NAMED} more` : "";
    const message = `no configuration names this network, but ${[...namesakes].join(" and ")} hands out its addresses, too: ${users.slice(0, MAX_NAMED).join(", ")}${more}`;
    const commands = [commandText(context, location, ["list", location.network])];
    return [
      {
        code: "unconfigured-network-in-use",
        location,
        path: location.directory,
        message,
        commands,
      },
    ];
  });
}

function nameOf({ location }: NetworkDirectory): string {
  return location.network;
}
