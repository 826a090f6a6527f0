/** Ranges as the `bridge` plugin sees them: the subnet, and the gateway that it gives the bridge. */

import {
  type Address,
  type AddressRange,
  formatAddress,
  isSame,
  next,
} from "../../ipam/address.ts";
import { addressRangeOf } from "../../ipam/prefix.ts";
import type { Range } from "../../ipam/range.ts";
import type { InterfaceAddress } from "../facts/links.ts";

/**
 * The address that the plugin gives the bridge for an address of a range: the gateway or, without one, the first after the
 * network's, each with the prefix length of the subnet (`calcGateways` in bridge.go).
 */
export function gatewayOf(range: Range): InterfaceAddress {
  const address = range.gateway ?? next(subnetOf(range).first);
  return { address, prefixLength: range.prefixLength };
}

/** All addresses of a range's subnet. */
export function subnetOf({ first, prefixLength }: Range): AddressRange {
  return subnetWith({ address: first, prefixLength });
}

/** The broadcast address of a range's subnet; `undefined` where it has none. */
export function broadcastOf(range: Range): Address | undefined {
  return range.family === 4 && range.prefixLength < 31 ? subnetOf(range).last : undefined;
}

/** All addresses of the subnet of an interface's address. */
export function subnetWith({ address, prefixLength }: InterfaceAddress): AddressRange {
  return addressRangeOf({ address, length: prefixLength, mapped: false });
}

/** Whether two addresses of interfaces are the same, with the same prefix length. */
export function isSameInterfaceAddress(a: InterfaceAddress, b: InterfaceAddress): boolean {
  return isSame(a.address, b.address) && a.prefixLength === b.prefixLength;
}

/** Formats an address with its prefix length, such as `10.1.2.1/24`. */
export function formatInterfaceAddress({ address, prefixLength }: InterfaceAddress): string {
  return `${formatAddress(address)}/${prefixLength}`;
}

/** The subnet of a range, such as `10.1.2.0/24`. */
export function formatSubnet(range: Range): string {
  return `${formatAddress(subnetOf(range).first)}/${range.prefixLength}`;
}
