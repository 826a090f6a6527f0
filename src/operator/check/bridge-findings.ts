/** Findings on bridges that do not have the gateway's address: the next ADD may fail. */

import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import {
  type Address,
  formatAddress,
  isSame,
  isWithin,
  next,
  parseAddress,
} from "../../ipam/address.ts";
import { addressRangeOf } from "../../ipam/prefix.ts";
import type { Range } from "../../ipam/range.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import type { Bridge, FoundNetwork } from "../node/networks.ts";
import { shellCommand } from "../node/next-command.ts";
import type { Node } from "../node/node.ts";
import { BRIDGE_IN_USE, BRIDGE_SHARED, type Code, type Finding, severityOf } from "./finding.ts";
import { podsInSubnet } from "./pods-in-subnet.ts";

/** The largest output of `ip`, in bytes. */
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** An address of an interface. */
interface InterfaceAddress {
  readonly address: Address;
  readonly prefixLength: number;
}

/** The addresses of the node's interfaces, by interface name, without link-local ones. */
type Interfaces = ReadonlyMap<string, readonly InterfaceAddress[]>;

/** Checks that every bridge has the gateway's address of its network. */
export function bridgeFindings(node: Node, networks: readonly FoundNetwork[]): readonly Finding[] {
  const bridged = networks.flatMap((network): readonly BridgedNetwork[] => {
    const { bridge, rangeSets } = network;
    return bridge === undefined ? [] : [{ network, bridge, ranges: rangeSets.flat() }];
  });
  if (bridged.length === 0) return [];
  const devices = listDevices(node.context.system);
  // The loopback interface is always there.
  if (devices === undefined || devices.length === 0) {
    const message = "the addresses of bridges were not checked: ip -json address failed";
    return [{ code: "ip-failed", network: "", path: "", message }];
  }
  const interfaces = interfacesAmong(devices);
  return bridged.flatMap((one) => checkBridge(node, one, bridged, interfaces));
}

/** What `ip -json address` of iproute2 lists; `undefined` where that cannot be read. */
function listDevices(system: OperatorSystem): readonly unknown[] | undefined {
  try {
    const { exitCode, stdout } = system.run(["ip", "-json", "address"], LARGEST_OUTPUT);
    return exitCode === 0 ? listOf(JSON.parse(stdout)) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
}

/** A network whose bridge has the gateways' addresses. */
interface BridgedNetwork {
  readonly network: FoundNetwork;
  readonly bridge: Bridge;
  readonly ranges: readonly Range[];
}

/** What `ip -json address` lists. */
export function interfacesAmong(listed: readonly unknown[]): Interfaces {
  const devices = listed.map((device): [string, readonly InterfaceAddress[]] => [
    textOf(exactMember(device, "ifname")),
    listOf(exactMember(device, "addr_info")).flatMap((entry) => {
      const address = parseAddress(textOf(exactMember(entry, "local")));
      const prefixLength = exactMember(entry, "prefixlen");
      if (address === undefined || typeof prefixLength !== "number") return [];
      return exactMember(entry, "scope") === "link" ? [] : [{ address, prefixLength }];
    }),
  ]);
  return new Map(devices);
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
 * The `bridge` plugin fails an ADD if the bridge has another IPv4 address, or another IPv6 address of the same subnet. With
 * `forceAddress` it replaces that, and a bridge without an address gets it with the next ADD.
 *
 * @param bridged with the ranges of one family
 * @param addresses those of the same family
 */
function checkFamily(
  node: Node,
  bridged: BridgedNetwork,
  all: readonly BridgedNetwork[],
  addresses: readonly InterfaceAddress[],
): readonly Finding[] {
  const { bridge, ranges } = bridged;
  if (addresses.some((one) => isGatewayIn(one, ranges))) return [];
  const stale = addresses.filter(
    ({ address }) => address.family === 4 || ranges.some((one) => isWithin(address, subnetOf(one))),
  );
  const lost = ranges.flatMap((range) => lostAddress(node, bridged, range));
  if (stale.length === 0) return lost;
  // Of pods that may be dead, a second finding on the same bridge would only distract.
  const certain = lost.filter((one) => severityOf(one) === "error");
  if (bridge.isForced || ranges.length === 0) return certain;
  const expected = [...new Set(ranges.map(formatGateway))].join(" or ");
  const message = `${bridge.name} has ${stale.map(formatInterfaceAddress).join(", ")}; expected the gateway ${expected}`;
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
    return [{ ...found(bridged, "bridge-address", text), remedy: BRIDGE_IN_USE }];
  }
  const commands = stale.map((one) =>
    shellCommand(["ip", "addr", "del", formatInterfaceAddress(one), "dev", bridge.name]),
  );
  return [{ ...found(bridged, "bridge-address", message), commands }, ...certain];
}

/** Whose gateway an address is, or may be: that of the pods with an address of its subnet. */
function useOf(node: Node, { address, prefixLength }: InterfaceAddress): readonly string[] {
  const pods = podsInSubnet(node, addressRangeOf({ address, length: prefixLength, mapped: false }));
  if (pods === undefined) return [];
  const { areLiving, text } = pods;
  return [`${formatAddress(address)} ${areLiving ? "is" : "may be"} the gateway of ${text}`];
}

/** The next ADD sets the address, but there may be none: the range may be full. */
function lostAddress(node: Node, bridged: BridgedNetwork, range: Range): readonly Finding[] {
  const pods = podsInSubnet(node, subnetOf(range));
  if (pods === undefined) return [];
  const { name } = bridged.bridge;
  const message = `${name} lacks ${formatGateway(range)}, the gateway of ${pods.text}`;
  return [
    {
      ...found(bridged, "bridge-without-address", message),
      severity: pods.areLiving ? "error" : "warning",
      commands: [shellCommand(["ip", "addr", "add", formatGateway(range), "dev", name])],
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
