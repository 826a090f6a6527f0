/** Findings on bridges that do not have the gateway's address, or not as their first: the next ADD may fail. */

import {
  type Address,
  type AddressRange,
  formatAddress,
  isSame,
  isWithin,
  next,
} from "../../ipam/address.ts";
import { addressRangeOf, parsePrefix } from "../../ipam/prefix.ts";
import type { Range } from "../../ipam/range.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";
import type { Bridge, FoundNetwork } from "../configured/found-network.ts";
import { shellCommand } from "../next-command.ts";
import type { Node } from "../node.ts";
import { BRIDGE_IN_USE, BRIDGE_SHARED, type Code, type Finding, severityOf } from "./finding.ts";
import { podsInSubnet } from "./pods-in-subnet.ts";

/** An address of an interface. */
interface InterfaceAddress {
  readonly address: Address;
  readonly prefixLength: number;
}

/** The addresses of the node's interfaces, by interface name, in the order of the kernel. */
type Interfaces = ReadonlyMap<string, readonly InterfaceAddress[]>;

/** Checks that every bridge has the gateway's address of its network. */
export function bridgeFindings(node: Node, networks: readonly FoundNetwork[]): readonly Finding[] {
  const bridged = networks.flatMap((network): readonly BridgedNetwork[] => {
    const { bridge, rangeSets } = network;
    return bridge === undefined ? [] : [{ network, bridge, ranges: rangeSets.flat() }];
  });
  if (bridged.length === 0) return [];
  const interfaces = attempt(() => interfacesOf(node.context.system), undefined);
  if (interfaces === undefined) {
    const message = "the addresses of bridges were not checked: the kernel does not tell them here";
    return [{ code: "interfaces-unread", network: "", path: "", message }];
  }
  return bridged.flatMap((one) => checkBridge(node, one, bridged, interfaces));
}

/** @throws SystemError */
function interfacesOf(system: OperatorSystem): Interfaces {
  const interfaces = new Map<string, InterfaceAddress[]>();
  for (const line of system.listInterfaces()) {
    const [name = "", text = ""] = line.split(" ");
    const addresses = interfaces.get(name) ?? [];
    interfaces.set(name, addresses);
    const prefix = parsePrefix(text);
    if (prefix !== undefined) {
      addresses.push({ address: prefix.address, prefixLength: prefix.length });
    }
  }
  return interfaces;
}

/** A network whose bridge has the gateways' addresses. */
interface BridgedNetwork {
  readonly network: FoundNetwork;
  readonly bridge: Bridge;
  readonly ranges: readonly Range[];
}

/** A missing bridge is fine: the next ADD creates it. */
function checkBridge(
  node: Node,
  bridged: BridgedNetwork,
  all: readonly BridgedNetwork[],
  interfaces: Interfaces,
): readonly Finding[] {
  const addresses = interfaces.get(bridged.bridge.name);
  if (addresses === undefined) return [];
  return ([4, 6] as const).flatMap((family) => {
    const ranges = bridged.ranges.filter((range) => range.family === family);
    const ofFamily = addresses.filter(({ address }) => address.family === family);
    return checkFamily(node, { ...bridged, ranges }, all, ofFamily);
  });
}

/**
 * The `bridge` plugin looks for the gateway among the addresses of the bridge, and fails an ADD at the first other IPv4
 * address before it, or IPv6 address of the same subnet. With `forceAddress` it removes that; a bridge without any gets the
 * gateway with the next ADD.
 *
 * @param bridged with the ranges of one family
 * @param addresses those of the same family, in the order of the kernel
 */
function checkFamily(
  node: Node,
  bridged: BridgedNetwork,
  all: readonly BridgedNetwork[],
  addresses: readonly InterfaceAddress[],
): readonly Finding[] {
  const { bridge, ranges } = bridged;
  const at = addresses.findIndex((one) => isGatewayIn(one, ranges));
  const before = at < 0 ? addresses : addresses.slice(0, at);
  const gateway = addresses[at];
  const stale = before.filter(
    ({ address }) => address.family === 4 || ranges.some((one) => isWithin(address, subnetOf(one))),
  );
  const lost = at < 0 ? ranges.flatMap((range) => lostAddress(node, bridged, range)) : [];
  if (stale.length === 0) return lost;
  // Of pods that may be dead, a second finding on the same bridge would only distract.
  const certain = lost.filter((one) => severityOf(one) === "error");
  if (bridge.isForced || ranges.length === 0) return certain;
  const others = stale.map(formatInterfaceAddress).join(", ");
  const expected = [...new Set(ranges.map(formatGateway))].join(" or ");
  const message =
    gateway === undefined
      ? `${bridge.name} has ${others}; expected the gateway ${expected}`
      : `${bridge.name} has ${others} before the gateway ${expected}, and the bridge plugin looks at the first`;
  const sharing = all.find(
    (other) =>
      other.bridge.name === bridge.name && stale.some((one) => isGatewayIn(one, other.ranges)),
  );
  if (sharing !== undefined) {
    const text = `${message}; the other one is the gateway of ${sharing.network.files.network}`;
    return [{ ...found(bridged, "bridge-address", text), remedy: BRIDGE_SHARED }];
  }
  const uses = stale.flatMap((one) => useOf(node, one));
  if (uses.length > 0) {
    const text = [message, ...uses].join("; ");
    return [{ ...found(bridged, "bridge-address", text), remedy: BRIDGE_IN_USE }, ...certain];
  }
  // With the first address of a subnet the kernel removes the others of it, see promote_secondaries in ip-sysctl: so it is the
  // last of them to go, and what stays is set again.
  const command = (verb: "del" | "replace") => (one: InterfaceAddress) =>
    addressCommand(verb, formatInterfaceAddress(one), bridge);
  const staying = addresses.slice(before.length).filter((one) => {
    return one === gateway || stale.some((other) => isBeside(one, other));
  });
  const commands = [...stale.toReversed().map(command("del")), ...staying.map(command("replace"))];
  return [{ ...found(bridged, "bridge-address", message), commands }, ...certain];
}

/** Whether two addresses of an interface are in the same subnet. */
function isBeside(one: InterfaceAddress, other: InterfaceAddress): boolean {
  return one.prefixLength === other.prefixLength && isWithin(one.address, subnetWith(other));
}

function subnetWith({ address, prefixLength }: InterfaceAddress): AddressRange {
  return addressRangeOf({ address, length: prefixLength, mapped: false });
}

function addressCommand(verb: "add" | "del" | "replace", text: string, { name }: Bridge): string {
  return shellCommand(["ip", "addr", verb, text, "dev", name]);
}

/** Whose gateway an address is, or may be: that of the pods with an address of its subnet, unless they have another one. */
function useOf(node: Node, one: InterfaceAddress): readonly string[] {
  const { address } = one;
  const pods = podsInSubnet(node, subnetWith(one), address);
  if (pods === undefined) return [];
  const { areLiving, text } = pods;
  return [`${formatAddress(address)} ${areLiving ? "is" : "may be"} the gateway of ${text}`];
}

/** The next ADD sets the address, but there may be none: the range may be full. */
function lostAddress(node: Node, bridged: BridgedNetwork, range: Range): readonly Finding[] {
  const pods = podsInSubnet(node, subnetOf(range), gatewayFor(range));
  if (pods === undefined) return [];
  const { bridge } = bridged;
  const message = `${bridge.name} lacks ${formatGateway(range)}, the gateway of ${pods.text}`;
  return [
    {
      ...found(bridged, "bridge-without-address", message),
      severity: pods.areLiving ? "error" : "warning",
      commands: [addressCommand("add", formatGateway(range), bridge)],
    },
  ];
}

function found({ network }: BridgedNetwork, code: Code, message: string): Finding {
  const { files, source = "" } = network;
  return { code, network: files.network, path: source, message };
}

function isGatewayIn(
  { address, prefixLength }: InterfaceAddress,
  ranges: readonly Range[],
): boolean {
  return ranges.some(
    (range) => isSame(address, gatewayFor(range)) && prefixLength === range.prefixLength,
  );
}

function formatInterfaceAddress({ address, prefixLength }: InterfaceAddress): string {
  return `${formatAddress(address)}/${prefixLength}`;
}

function formatGateway(range: Range): string {
  return `${formatAddress(gatewayFor(range))}/${range.prefixLength}`;
}

/** The address that the `bridge` plugin gives the bridge: the gateway or, without one, the first after the network's. */
function gatewayFor(range: Range): Address {
  return range.gateway ?? next(subnetOf(range).first);
}

function subnetOf({ first, prefixLength }: Range) {
  return addressRangeOf({ address: first, length: prefixLength, mapped: false });
}
