/** IP addresses: parsed once, compared and counted as whole numbers, printed in canonical form. */

import ipaddr from "ipaddr.js";

export type Family = 4 | 6;

/** An IP address; made only by `parseAddress` and `addressAt`. */
export interface Address {
  readonly family: Family;
  /** The address as a number: fixed width, so that arithmetic never changes the family. */
  readonly value: bigint;
}

/** A contiguous range of addresses of one family, both ends included. */
export interface AddressRange {
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

/** Less than, equal to or greater than 0, for sorting; IPv4 comes before IPv6. */
export function compare(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

export function isBefore(a: Address, b: Address): boolean {
  return compare(a, b) < 0;
}

export function isWithin(address: Address, { first, last }: AddressRange): boolean {
  return (
    address.family === first.family && first.value <= address.value && address.value <= last.value
  );
}

/** Whether two ranges have addresses in common. */
export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return isWithin(a.first, b) || isWithin(b.first, a);
}

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

/** Whether all addresses of a range are in another one. */
export function isPartOf({ first, last }: AddressRange, other: AddressRange): boolean {
  return isWithin(first, other) && isWithin(last, other);
}

/** How far an address is from the beginning of a range; exact up to 2^53. */
export function offsetIn({ first }: AddressRange, address: Address): number {
  return Number(address.value - first.value);
}

/** How many addresses a range holds; exact for IPv6, too. */
export function sizeOf(range: AddressRange): bigint {
  return range.last.value - range.first.value + 1n;
}

/**
 * Reads an address as Go's `net.ParseIP` does: four decimal octets without leading zeros, or IPv6 without a zone.
 * An IPv4-mapped IPv6 address is the IPv4 address.
 *
 * @param text such as `10.1.2.3` or `2001:db8::1`
 * @returns `undefined` where the text is not an address
 */
export function parseAddress(text: string): Address | undefined {
  return parseUnmapped(text)?.address;
}

/** Parses an address as `parseAddress` does, and says whether the text was an IPv4-mapped IPv6 address. */
export function parseUnmapped(
  text: string,
): { readonly address: Address; readonly mapped: boolean } | undefined {
  if (!text.includes(":")) {
    const value = parseDottedQuad(text);
    return value === undefined ? undefined : { address: addressAt(4, value), mapped: false };
  }
  const groups = withoutDottedTail(text);
  const value = groups === undefined ? undefined : parseGroups(groups);
  if (value === undefined) return undefined;
  // ipaddr.js is not used here: it would compare the address with every special range.
  if (value >> 32n !== MAPPED) return { address: addressAt(6, value), mapped: false };
  return { address: addressAt(4, value & 0xffff_ffffn), mapped: true };
}

/** The bits of an IPv4-mapped IPv6 address before its last 32. */
const MAPPED = 0xffffn;

/** The canonical text: dotted quad, or RFC 5952. It is also the name of the reservation's file. */
export function formatAddress(address: Address): string {
  if (address !== latest?.address) latest = { address, text: textOf(address) };
  return latest.text;
}

/** The address that was formatted last: an ADD writes its address to five places. */
let latest: { readonly address: Address; readonly text: string } | undefined;

function textOf({ family, value }: Address): string {
  if (family === 4) return dottedQuad(Number(value));
  const groups: number[] = [];
  for (let shift = 96n; shift >= 0n; shift -= 32n) {
    const word = Number((value >> shift) & 0xffff_ffffn);
    groups.push(word >>> 16, word & 0xffff);
  }
  return new ipaddr.IPv6(groups).toRFC5952String();
}

/** `first-last`, as the Go plugin's error texts show a range. */
export function formatAddressRange({ first, last }: AddressRange): string {
  return `${formatAddress(first)}-${formatAddress(last)}`;
}

/** An address range as `first-last`, or the one address that it has. */
export function formatAddresses(range: AddressRange): string {
  return isSame(range.first, range.last) ? formatAddress(range.first) : formatAddressRange(range);
}

function dottedQuad(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
}

/**
 * Four decimal octets as one number. ipaddr.js is too slow for a directory of 65 000 addresses, and also reads octal and
 * hexadecimal octets and short forms. Go rejects these: here a text must be what is printed for its number.
 */
function parseDottedQuad(text: string): bigint | undefined {
  const octets = text.split(".");
  if (octets.length !== 4) return undefined;
  let value = 0;
  for (const octet of octets) value = value * 256 + Number(octet);
  return dottedQuad(value) === text ? BigInt(value) : undefined;
}

/** Hexadecimal groups as one number. ipaddr.js also reads zones, and a dotted tail for an IPv4-mapped address. */
function parseGroups(text: string): bigint | undefined {
  if (!/^(?:[0-9a-f]{0,4}:){2,8}[0-9a-f]{0,4}$/i.test(text)) return undefined;
  try {
    return ipaddr.IPv6.parse(text).parts.reduce(
      (value, group) => (value << 16n) | BigInt(group),
      0n,
    );
  } catch {
    return undefined;
  }
}

/** An IPv6 text whose last four bytes may be written as a dotted quad, in groups only. */
function withoutDottedTail(text: string): string | undefined {
  const start = text.lastIndexOf(":") + 1;
  const tail = text.slice(start);
  if (!tail.includes(".")) return text;
  const value = parseDottedQuad(tail);
  if (value === undefined) return undefined;
  return `${text.slice(0, start)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
