/** Findings on networks that may hand out the same address. */

import {
  type AddressRange,
  addressAt,
  formatAddress,
  formatAddressRange,
  isWithin,
} from "../../ipam/address.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import type { Node } from "../node/node.ts";
import { containerOf } from "../node/node-reservations.ts";
import type { Finding } from "./finding.ts";
import { namedPods } from "./pods-in-subnet.ts";

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
  const networks = `in the networks ${nameOf(one)} and ${nameOf(other)}`;
  const names = new Set(other.reservations.map(({ name }) => name));
  const taken = one.reservations.filter(({ name }) => names.has(name));
  if (taken.length > 0) {
    return taken.map(({ name, path }) => ({
      code: "address-in-two-networks",
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
    code: "overlapping-ranges",
    files,
    path: sources.join(", "),
    message: `${addressRange} is ${networks} (${other.sources.join(", ")})`,
  }));
}

/**
 * Compares the directories that nothing configures with the configured ranges: after a network was renamed, the pods from
 * before still have addresses that are handed out again. Reservations of dead containers are ignored.
 *
 * @param isSelected only pairs for one of which this holds
 */
export function formerNetworkFindings(
  { context, directories, cache, liveness }: Node,
  isSelected: (directory: NetworkDirectory) => boolean,
): readonly Finding[] {
  const isConfigured = ({ sources }: NetworkDirectory): boolean => sources.length > 0;
  const configured = directories.filter(isConfigured);
  return directories.flatMap((former): readonly Finding[] => {
    if (isConfigured(former)) return [];
    const { files } = former;
    const others = configured.filter((one) => isSelected(one) || isSelected(former));
    const namesakes = new Set<string>();
    const users = former.reservations.flatMap((reservation) => {
      const { address, owner } = reservation;
      const found = others.find(({ ranges }) => ranges.some((range) => isWithin(address, range)));
      if (found === undefined || liveness.livenessOf(reservation).liveness === "dead") return [];
      namesakes.add(nameOf(found));
      const holder = cache.podOf(reservation) || containerOf(owner) || "no container";
      return [`${formatAddress(address)} (${holder})`];
    });
    if (users.length === 0) return [];
    const message = `no configuration names this network, but ${[...namesakes].join(" and ")} hands out its addresses, too: ${namedPods(users)}`;
    const commands = [commandText(context, files, ["list", files.network])];
    return [
      {
        code: "unconfigured-network-in-use",
        files,
        path: files.directory,
        message,
        commands,
      },
    ];
  });
}

function nameOf({ files }: NetworkDirectory): string {
  return files.network;
}
