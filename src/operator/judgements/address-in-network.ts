/** Where an address is in a network's configuration. */

import { type Address, formatAddressRange, isWithin } from "../../ipam/address.ts";
import {
  formatReservedFor,
  isExcluded,
  type ReservedRange,
  reservedAt,
} from "../../ipam/exclusions.ts";
import { isGateway, type Range } from "../../ipam/range.ts";
import { rangeOf } from "../../ipam/range-set.ts";
import type { FoundNetwork } from "../configured/found-network.ts";

/**
 * What an address is in a network. `otherNode`: in the range that nodes share, but not in the part of this one. `unknown`: in no
 * configured range, where the runtime or the main plugin may supply others.
 */
export type AddressInNetwork =
  | { readonly kind: "gateway" | "excluded" | "otherNode" | "outside" | "unknown" }
  | { readonly kind: "reserved"; readonly entry: ReservedRange }
  | { readonly kind: "handedOut"; readonly range: Range };

/** What an address is in a network, whoever holds it. The gateway of a range is somebody's by right, and never handed out. */
export function addressIn(
  network: Pick<FoundNetwork, "rangeSets" | "exclusions" | "reserved" | "acceptsRuntimeRanges">,
  address: Address,
): AddressInNetwork {
  const ranges = network.rangeSets.flat();
  if (ranges.some((range) => isGateway(address, range))) return { kind: "gateway" };
  const range = rangeOf(ranges, address);
  if (range !== undefined) {
    const entry = reservedAt(network, address);
    if (entry !== undefined) return { kind: "reserved", entry };
    if (isExcluded(address, network.exclusions)) return { kind: "excluded" };
    return { kind: "handedOut", range };
  }
  if (ranges.length === 0 || network.acceptsRuntimeRanges) return { kind: "unknown" };
  const isOfOther = ranges.some(({ whole }) => whole !== undefined && isWithin(address, whole));
  return { kind: isOfOther ? "otherNode" : "outside" };
}

/** What an address is, in words that follow "is". */
export function describeAddress(it: AddressInNetwork): string {
  switch (it.kind) {
    case "gateway":
      return "the gateway";
    case "reserved":
      return `reserved for ${formatReservedFor(it.entry)} (ipam.reserved)`;
    case "excluded":
      return "excluded (ipam.exclude)";
    case "handedOut":
      return `in range ${formatAddressRange(it.range)}`;
    case "otherNode":
      return "outside of this node's part: another node may hand it out";
    case "outside":
      return "outside all ranges";
    case "unknown":
      return "in no range that is known";
  }
}
