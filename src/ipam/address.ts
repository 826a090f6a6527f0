/** IP addresses: parsed once, compared and counted as whole numbers, printed in canonical form. */

import ipaddr from "ipaddr.js";

export type Family = 4 | 6;

/** An IP address; made only by `parseAddress` and `addressAt`. */
export interface Address {
  readonly family: Family;
  /** The address as a number: fixed width, so that arithmetic never changes the family. */
  readonly value: bigint;
}

/** An unbroken run of addresses of one family, both ends included. */
export interface Window {
  readonly first: Address;
  readonly last: Address;
}

/** How many bits an address of a family has. */
export function bitsOf(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

export function addressAt(family: Family, value: bigint): Address {
  return { family, value };
}

/** The address after `address`. */
export function next(address: Address): Address {
  return addressAt(address.family, address.value + 1n);
}

export function isSame(a: Address, b: Address): boolean {
  return a.family === b.family && a.value === b.value;
}

export function isWithin(address: Address, { first, last }: Window): boolean {
  return (
    address.family === first.family && first.value <= address.value && address.value <= last.value
  );
}

/** How many addresses a window holds; exact for IPv6, too. */
export function sizeOf(window: Window): bigint {
  return window.last.value - window.first.value + 1n;
}

/**
 * Reads an address as Go's `net.ParseIP` does: four decimal octets without leading zeros, or IPv6 without a zone.
 * An IPv4-mapped IPv6 address is the IPv4 address.
 *
 * @param text such as `10.1.2.3` or `2001:db8::1`
 * @returns `undefined` where the text is no address
 */
export function parseAddress(text: string): Address | undefined {
  return parseUnmapped(text)?.address;
}

/** As `parseAddress`, and says whether the text was an IPv4-mapped IPv6 address. */
export function parseUnmapped(
  text: string,
): { readonly address: Address; readonly mapped: boolean } | undefined {
  if (!text.includes(":")) {
    if (!isDottedQuad(text)) return undefined;
    return {
      address: addressAt(4, numberOf(ipaddr.IPv4.parse(text).toByteArray())),
      mapped: false,
    };
  }
  const groups = withoutDottedTail(text);
  if (groups === undefined || !isHexGroups(groups)) return undefined;
  const parsed = ipaddr.IPv6.parse(groups);
  if (!parsed.isIPv4MappedAddress()) {
    return { address: addressAt(6, numberOf(parsed.toByteArray())), mapped: false };
  }
  return {
    address: addressAt(4, numberOf(parsed.toIPv4Address().toByteArray())),
    mapped: true,
  };
}

/** The canonical text: dotted quad, or RFC 5952. It is also the name of the reservation's file. */
export function formatAddress({ family, value }: Address): string {
  const bytes: number[] = [];
  for (let shift = BigInt(bitsOf(family) - 8); shift >= 0n; shift -= 8n) {
    bytes.push(Number((value >> shift) & 0xffn));
  }
  return family === 4
    ? new ipaddr.IPv4(bytes).toString()
    : new ipaddr.IPv6(bytes).toRFC5952String();
}

/** `first-last`, as the reference's error texts show a range. */
export function formatWindow({ first, last }: Window): string {
  return `${formatAddress(first)}-${formatAddress(last)}`;
}

// ipaddr.js also reads octal and hexadecimal octets, short forms, zones and over-long groups; Go refuses them.

function isDottedQuad(text: string): boolean {
  return (
    /^(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})$/.test(text) && ipaddr.IPv4.isValid(text)
  );
}

function isHexGroups(text: string): boolean {
  return /^(?:[0-9a-f]{0,4}:){2,8}[0-9a-f]{0,4}$/i.test(text) && ipaddr.IPv6.isValid(text);
}

/** An IPv6 text whose last four bytes may be written as a dotted quad, in groups only. */
function withoutDottedTail(text: string): string | undefined {
  const start = text.lastIndexOf(":") + 1;
  const tail = text.slice(start);
  if (!tail.includes(".")) return text;
  if (!isDottedQuad(tail)) return undefined;
  const value = numberOf(ipaddr.IPv4.parse(tail).toByteArray());
  return `${text.slice(0, start)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function numberOf(bytes: readonly number[]): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
