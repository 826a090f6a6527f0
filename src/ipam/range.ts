/** A range: the part of a subnet from which addresses are handed out. */

import { internalError } from "../cni/error.ts";
import {
  type Address,
  type AddressRange,
  addressAt,
  type Family,
  formatAddress,
  isSame,
  isWithin,
  next,
} from "./address.ts";
import { addressRangeOf, formatPrefix, type Prefix } from "./prefix.ts";

/** A range as configured, each member parsed, with its path. */
export interface RangeSpec {
  readonly path: string;
  readonly subnet: Prefix | undefined;
  readonly rangeStart: Address | undefined;
  readonly rangeEnd: Address | undefined;
  readonly gateway: Address | undefined;
}

/** A valid range; made only by `makeRange`. Addresses from `first` to `last` are handed out. */
export interface Range extends AddressRange {
  readonly family: Family;
  readonly prefixLength: number;
  readonly gateway: Address;
}

/**
 * Fills in a range's defaults and checks it, in the order in which the reference's `Canonicalize` does.
 *
 * @throws CniError 999 with the path in its details
 */
export function makeRange(spec: RangeSpec): Range {
  const { subnet, path } = spec;
  if (subnet === undefined) {
    throw internalError(
      "IP <nil> not v4 nor v6",
      `expected a network such as "10.1.2.0/24" at ${path}.subnet; it is missing`,
    );
  }
  const { family } = subnet.address;
  const shortestHostPart = 2;
  const bits = subnet.mapped || family === 6 ? 128 : 32;
  const writtenLength = subnet.mapped ? subnet.length + 96 : subnet.length;
  if (writtenLength > bits - shortestHostPart) {
    throw internalError(
      `Network ${formatPrefix(subnet)} too small to allocate from`,
      `expected a prefix length of at most ${bits - shortestHostPart} at ${path}.subnet`,
    );
  }
  if (subnet.mapped) {
    throw internalError(
      "IPNet IP and Mask version mismatch",
      `expected an IPv4 or IPv6 network, not an IPv4-mapped one, at ${path}.subnet`,
    );
  }
  const whole = addressRangeOf(subnet);
  if (!isSame(whole.first, subnet.address)) {
    throw internalError(
      `Network has host bits set. For a subnet mask of length ${subnet.length} the network address is ${formatAddress(whole.first)}`,
      `found ${formatPrefix(subnet)} at ${path}.subnet`,
    );
  }

  // All of an IPv6 network may be used; IPv4 keeps its last address for broadcast.
  const defaultLast = family === 4 ? addressAt(family, whole.last.value - 1n) : whole.last;
  const first = spec.rangeStart ?? next(whole.first);
  const last = spec.rangeEnd ?? defaultLast;
  // Where no start is given, an end before the default start is the error.
  if (spec.rangeStart !== undefined && (!isWithin(first, whole) || isAfter(first, last))) {
    throw notInNetwork("RangeStart", first, subnet, `${path}.rangeStart`);
  }
  if (!isWithin(last, whole) || last.value < first.value) {
    throw notInNetwork("RangeEnd", last, subnet, `${path}.rangeEnd`);
  }
  return {
    family,
    prefixLength: subnet.length,
    gateway: spec.gateway ?? next(whole.first),
    first,
    last,
  };
}

function isAfter(a: Address, b: Address): boolean {
  return a.family === b.family && a.value > b.value;
}

function notInNetwork(what: string, address: Address, subnet: Prefix, path: string): Error {
  return internalError(
    `${what} ${formatAddress(address)} not in network ${formatPrefix(subnet)}`,
    `expected an address of ${formatPrefix(subnet)} with rangeStart <= rangeEnd at ${path}`,
  );
}
