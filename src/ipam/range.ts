/** A range: the part of a subnet from which addresses are handed out. */

import { internalError } from "../cni/error.ts";
import {
  type Address,
  type AddressRange,
  addressAt,
  bitsOf,
  type Family,
  formatAddress,
  isSame,
  isWithin,
  next,
} from "./address.ts";
import { addressRangeOf, formatPrefix, type Prefix } from "./prefix.ts";

/**
 * The value of `gateway` for a range without one. The Go plugin refuses it, and takes `null` for absent, as this plugin does.
 */
export const NO_GATEWAY = "none";

/** A range as configured, each member parsed, with its path. */
export interface RangeSpec {
  readonly path: string;
  readonly subnet: Prefix | undefined;
  readonly rangeStart: Address | undefined;
  readonly rangeEnd: Address | undefined;
  readonly gateway: Address | typeof NO_GATEWAY | undefined;
}

/** A valid range; made only by `makeRange`. Addresses from `first` to `last` are handed out. */
export interface Range extends AddressRange {
  readonly family: Family;
  readonly prefixLength: number;
  /** Never handed out; `undefined` where it is `"none"`, or not configured in a subnet of one or two addresses. */
  readonly gateway: Address | undefined;
  /** The range as configured, where this is the node's part of it (`partition`). */
  readonly whole?: AddressRange;
}

/** Whether an address is the gateway of a range, which is never handed out. */
export function isGateway(address: Address, { gateway }: Pick<Range, "gateway">): boolean {
  return gateway !== undefined && isSame(address, gateway);
}

/**
 * The addresses that are handed out where neither `rangeStart` nor `rangeEnd` is given: all but the network address
 * and, with IPv4, the broadcast address. A subnet of one or two addresses has neither (RFC 3021 for /31, RFC 6164 for
 * /127).
 *
 * @param subnet host bits are ignored
 */
export function defaultRangeOf(subnet: Prefix): AddressRange {
  const whole = addressRangeOf(subnet);
  if (isSmall(subnet)) return whole;
  return { first: next(whole.first), last: lastBeforeBroadcast(whole) };
}

/** The last address of a network that may be used: in IPv4 the very last one is for broadcast. */
function lastBeforeBroadcast({ last }: AddressRange): Address {
  return last.family === 4 ? addressAt(4, last.value - 1n) : last;
}

/** Whether a subnet has only one or two addresses. */
function isSmall({ address: { family }, length }: Prefix): boolean {
  return length >= bitsOf(family) - 1;
}

/**
 * Fills in a range's defaults and checks it, in the order in which the Go plugin's `Canonicalize` does.
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

  const isSmallSubnet = isSmall(subnet);
  const second = isSmallSubnet ? undefined : next(whole.first);
  const first = spec.rangeStart ?? second ?? whole.first;
  const last = spec.rangeEnd ?? (isSmallSubnet ? whole.last : lastBeforeBroadcast(whole));
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
    gateway: spec.gateway === NO_GATEWAY ? undefined : (spec.gateway ?? second),
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
