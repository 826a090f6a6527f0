/** Networks in CIDR notation. */

import {
  type Address,
  type AddressRange,
  addressAt,
  bitsOf,
  formatAddress,
  parseUnmapped,
} from "./address.ts";

/** An address with a prefix length; host bits are kept. Made only by `parsePrefix`. */
export interface Prefix {
  readonly address: Address;
  readonly length: number;
  /** Whether it was written as an IPv4-mapped IPv6 network, which a range cannot be. */
  readonly mapped: boolean;
}

/**
 * Reads `address/length` as Go's `net.ParseCIDR` does; leading zeros in the length are accepted.
 *
 * @returns `undefined` where the text is not CIDR notation
 */
export function parsePrefix(text: string): Prefix | undefined {
  const slash = text.indexOf("/");
  const parsed = slash < 0 ? undefined : parseUnmapped(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (parsed === undefined || !/^[0-9]+$/.test(digits)) return undefined;
  const { address, mapped } = parsed;
  const length = Number(digits);
  if (length > (mapped ? 128 : bitsOf(address.family))) return undefined;
  return { address, length: mapped ? Math.max(0, length - 96) : length, mapped };
}

/** `address/length` in canonical form. */
export function formatPrefix({ address, length }: Prefix): string {
  return `${formatAddress(address)}/${length}`;
}

/** The network that a prefix is of, without host bits. */
export function networkOf(prefix: Prefix): Prefix {
  return { ...prefix, address: addressRangeOf(prefix).first };
}

/** All addresses of the network, from the network address to the last one. */
export function addressRangeOf({ address, length }: Prefix): AddressRange {
  const hostBits = BigInt(bitsOf(address.family) - length);
  const first = (address.value >> hostBits) << hostBits;
  return {
    first: addressAt(address.family, first),
    last: addressAt(address.family, first + (1n << hostBits) - 1n),
  };
}
