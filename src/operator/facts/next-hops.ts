/** The routers of the node: the next hops of the routes in its network namespace. */

import { type Address, addressAt, formatAddress } from "../../ipam/address.ts";
import { attempt, LARGEST_FILE, type System } from "../../system/system.ts";

/** A router, and the interface by which the node reaches it. */
export interface NextHop {
  readonly address: Address;
  readonly interfaceName: string;
}

/** Reads the next hops of the routes that this process sees, each once; none where they cannot be read. */
export function readNextHops(system: Pick<System, "readFile">): readonly NextHop[] {
  const read = (table: string): string =>
    attempt(() => system.readFile(`/proc/self/net/${table}`, LARGEST_FILE), "");
  const all = [...nextHopsOfIPv4(read("route")), ...nextHopsOfIPv6(read("ipv6_route"))];
  const distinct = all.map(
    (hop) => [`${formatAddress(hop.address)} ${hop.interfaceName}`, hop] as const,
  );
  return [...new Map(distinct).values()];
}

/** The fields of a line in `route`: the interface, the destination, the gateway, flags and counters, and the mask. */
const IPV4_ROUTE = /^(\S+)\t[0-9A-F]{8}\t([0-9A-F]{8})\t(?:\d+\t){4}([0-9A-F]{8})\t/gm;

/** A mask whose first digit is that of the first octet, and neither of no address nor of all. */
const MASK_IN_ORDER = /^(?!0+$|F+$)F*[8CE]?0*$/;

/**
 * The next hops in `route`. The kernel prints the four octets as a number of the machine: most have the last octet first, s390x
 * the first. The masks of subnets show which.
 *
 * @example nextHopsOfIPv4("eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"); // 192.168.0.1 by eth0
 */
export function nextHopsOfIPv4(table: string): readonly NextHop[] {
  const routes = [...table.matchAll(IPV4_ROUTE)];
  const isInOrder = routes.some(([, , , mask = ""]) => MASK_IN_ORDER.test(mask));
  return routes.flatMap(([, interfaceName = "", gateway = ""]) => {
    const octets = gateway.match(/../g) ?? [];
    const digits = (isInOrder ? octets : octets.toReversed()).join("");
    return nextHop(addressAt(4, BigInt(`0x${digits}`)), interfaceName);
  });
}

/** A line in `ipv6_route`: the destination, the source, the next hop, four numbers, and the interface. */
const IPV6_ROUTE =
  /^[0-9a-f]{32} [0-9a-f]{2} [0-9a-f]{32} [0-9a-f]{2} ([0-9a-f]{32}) (?:[0-9a-f]{8} ){4} *(\S+)$/gm;

/** The next hops in `ipv6_route`. */
export function nextHopsOfIPv6(table: string): readonly NextHop[] {
  return [...table.matchAll(IPV6_ROUTE)].flatMap(([, digits = "", interfaceName = ""]) =>
    nextHop(addressAt(6, BigInt(`0x${digits}`)), interfaceName),
  );
}

/** A route without a next hop has zeros in its place. */
function nextHop(address: Address, interfaceName: string): readonly NextHop[] {
  return address.value === 0n ? [] : [{ address, interfaceName }];
}
