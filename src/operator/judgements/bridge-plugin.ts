/**
 * What the `bridge` plugin does with an address of a range: `calcGateways` and `ensureAddr` in plugins/main/bridge/bridge.go of
 * github.com/containernetworking/plugins, which 1.0.0 to 1.9.1 have alike.
 */

import {
  type AddressRange,
  formatAddress,
  formatAddressRange,
  isSame,
  next,
  overlaps,
} from "../../ipam/address.ts";
import { addressRangeOf } from "../../ipam/prefix.ts";
import type { Range } from "../../ipam/range.ts";
import { formatRangeSet, type RangeSet } from "../../ipam/range-set.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { InterfaceAddress, Links } from "../facts/links.ts";

/** Ranges whose pods the main plugin cannot serve, whatever the runtime and the pod ask for. */
export interface UnusableRanges {
  readonly ranges: readonly Range[];
  /** Whether every ADD with an address of them fails; otherwise pods have no gateway, or take it from others. */
  readonly isRefused: boolean;
  /** Why, as a sentence without a full stop. */
  readonly reason: string;
  readonly remedy: string;
}

/**
 * The address that the plugin gives the bridge for an address of a range: the gateway or, without one, the first after the
 * network's, each with the prefix length of the subnet.
 */
export function gatewayOf(range: Range): InterfaceAddress {
  const address = range.gateway ?? next(subnetOf(range).first);
  return { address, prefixLength: range.prefixLength };
}

/** All addresses of a range's subnet. */
export function subnetOf({ first, prefixLength }: Range): AddressRange {
  return subnetWith({ address: first, prefixLength });
}

/** All addresses of the subnet of an interface's address. */
export function subnetWith({ address, prefixLength }: InterfaceAddress): AddressRange {
  return addressRangeOf({ address, length: prefixLength, mapped: false });
}

/** Whether two addresses of interfaces are the same, with the same prefix length. */
export function isSameInterfaceAddress(a: InterfaceAddress, b: InterfaceAddress): boolean {
  return isSame(a.address, b.address) && a.prefixLength === b.prefixLength;
}

/**
 * The addresses of a bridge that fail an ADD, or that `forceAddress` removes: those of the gateway's family before it and, with
 * IPv6, of a subnet that overlaps its own. A bridge without any gets the gateway.
 *
 * @param addresses of the bridge, in the order of the kernel
 */
export function inTheWayOf(
  gateway: InterfaceAddress,
  addresses: readonly InterfaceAddress[],
): readonly InterfaceAddress[] {
  const { family } = gateway.address;
  const ofFamily = addresses.filter(({ address }) => address.family === family);
  const at = ofFamily.findIndex((one) => isSameInterfaceAddress(one, gateway));
  const before = at < 0 ? ofFamily : ofFamily.slice(0, at);
  return family === 4
    ? before
    : before.filter((one) => overlaps(subnetWith(one), subnetWith(gateway)));
}

/** The ranges of a network whose gateways its bridge can have at the same time, and the others. */
export interface SharedBridge {
  readonly served: readonly Range[];
  readonly others: readonly Range[];
}

/**
 * Tells the ranges apart whose gateways a bridge can have at the same time: of IPv4 it has one. The gateway that it has counts
 * first, then the order of the configuration.
 *
 * @param addresses of the bridge, in the order of the kernel; empty where it has none, or where they are not known
 */
export function shareBridge(
  sets: readonly RangeSet[],
  addresses: readonly InterfaceAddress[],
): SharedBridge {
  const ranges = sets.flat().filter(hasOwnFamily);
  const isThere = (range: Range): boolean =>
    addresses.some((one) => isSame(one.address, gatewayOf(range).address));
  const inOrder = [...ranges.filter(isThere), ...ranges.filter((range) => !isThere(range))];
  const gateways: InterfaceAddress[] = [];
  const served = new Set<Range>();
  for (const range of inOrder) {
    const gateway = gatewayOf(range);
    if (inTheWayOf(gateway, gateways).length > 0) continue;
    served.add(range);
    if (!gateways.some((one) => isSameInterfaceAddress(one, gateway))) gateways.push(gateway);
  }
  return {
    served: ranges.filter((range) => served.has(range)),
    others: ranges.filter((range) => !served.has(range)),
  };
}

function hasOwnFamily({ family, gateway }: Range): boolean {
  return gateway === undefined || gateway.family === family;
}

/** The addresses of a network's bridge, in the order of the kernel; none where there is no such bridge, or they are not known. */
export function bridgeAddressesOf(
  network: FoundNetwork,
  links: Links,
): readonly InterfaceAddress[] {
  const { bridge } = network;
  if (bridge === undefined || hasOtherInterface(network, links)) return [];
  return links.interfaces?.get(bridge.name) ?? [];
}

/** Whether the name of a network's bridge is that of another interface. */
export function hasOtherInterface({ bridgeName }: FoundNetwork, links: Links): boolean {
  return bridgeName !== undefined && links.otherInterfaces.has(bridgeName);
}

/** The ranges of a network from which no ADD works, as far as its configuration and its bridge show it. */
export function unusableRanges(network: FoundNetwork, links: Links): readonly UnusableRanges[] {
  return hasOtherInterface(network, links)
    ? withOtherInterface(network)
    : withoutBridge(network, bridgeAddressesOf(network, links));
}

/** Ranges from which no ADD works now, and why, as a sentence without a full stop. */
export type RefusedRanges = Pick<UnusableRanges, "ranges" | "reason">;

/**
 * The ranges from which no ADD works now: those that are refused in any case, and those whose gateway another address of the
 * bridge keeps off it.
 */
export function refusedRanges(network: FoundNetwork, links: Links): readonly RefusedRanges[] {
  const { bridge, rangeSets } = network;
  const refused = unusableRanges(network, links).filter(({ isRefused }) => isRefused);
  if (bridge === undefined || bridge.isForced) return refused;
  const addresses = bridgeAddressesOf(network, links);
  const known = new Set(refused.flatMap(({ ranges }) => ranges));
  const { served } = shareBridge(rangeSets, addresses);
  const others = served.filter((range) => !known.has(range));
  const byAddress = others.flatMap((range): readonly RefusedRanges[] => {
    const gateway = gatewayOf(range);
    const [first] = inTheWayOf(gateway, addresses);
    if (first === undefined) return [];
    const reason = `no ADD with an address of ${formatAddressRange(range)} works: ${bridge.name} has ${formatInterfaceAddress(first)}, where the bridge plugin expects the gateway ${formatInterfaceAddress(gateway)}`;
    return [{ ranges: [range], reason }];
  });
  return [...refused, ...byAddress];
}

function withOtherInterface({ bridgeName, rangeSets }: FoundNetwork): readonly UnusableRanges[] {
  const ranges = rangeSets.flat();
  if (bridgeName === undefined || ranges.length === 0) return [];
  const reason = `no ADD works: ${bridgeName}, which the configuration names as the bridge, is another interface ("already exists but is not a bridge")`;
  const remedy = `name another bridge in the member bridge of the configuration; ${bridgeName} stays as it is`;
  return [{ ranges, isRefused: true, reason, remedy }];
}

const WIDEN =
  "take the range out of the configuration. For more addresses widen the subnet, or use ranges of one subnet, which have one gateway: see the page 'Give a node more addresses' of the documentation";

function withoutBridge(
  { bridge, rangeSets }: FoundNetwork,
  addresses: readonly InterfaceAddress[],
): readonly UnusableRanges[] {
  if (bridge === undefined) return [];
  const { served, others } = shareBridge(rangeSets, addresses);
  return others.map((range) => {
    const set = rangeSets.find((one) => one.includes(range)) ?? [];
    const isOnly = !set.some((one) => served.includes(one));
    const own = gatewayOf(range);
    const [first] = served.filter(({ family }) => family === range.family);
    const holder = first === undefined ? undefined : gatewayOf(first);
    const has = holder === undefined ? "another gateway" : formatInterfaceAddress(holder);
    const which = isOnly
      ? `no ADD works, since a pod also gets an address of ${formatRangeSet(set)}`
      : `no ADD with an address of ${formatAddressRange(range)} works`;
    const reason = bridge.isForced
      ? `an ADD with an address of ${formatAddressRange(range)} takes ${has} from ${bridge.name}, the gateway of other pods: with forceAddress the bridge plugin gives it ${formatInterfaceAddress(own)} in its place`
      : `${which}: the bridge plugin gives ${bridge.name} one IPv${range.family} gateway${range.family === 6 ? " of a subnet" : ""}, ${has}, and this range needs ${formatInterfaceAddress(own)}`;
    return { ranges: [range], isRefused: !bridge.isForced, reason, remedy: WIDEN };
  });
}

/** Formats an address with its prefix length, such as `10.1.2.1/24`. */
export function formatInterfaceAddress({ address, prefixLength }: InterfaceAddress): string {
  return `${formatAddress(address)}/${prefixLength}`;
}

/** The subnet of a range, such as `10.1.2.0/24`. */
export function formatSubnet(range: Range): string {
  return `${formatAddress(subnetOf(range).first)}/${range.prefixLength}`;
}
