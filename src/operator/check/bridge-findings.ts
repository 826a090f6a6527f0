/**
 * Findings on bridges that do not have the gateway's address, or not as their first, so that the next ADD may fail, and on ranges
 * from which no ADD works.
 */

import { formatAddress, isSame, isWithin } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import { isInUse } from "../configured/file-in-use.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { Bridge } from "../configured/main-plugin.ts";
import type { InterfaceAddress } from "../facts/links.ts";
import {
  formatInterfaceAddress,
  gatewayOf,
  hasOtherInterface,
  inTheWayOf,
  isSameInterfaceAddress,
  shareBridge,
  subnetOf,
  subnetWith,
  unusableRanges,
} from "../judgements/bridge-plugin.ts";
import type { Node } from "../node.ts";
import {
  BRIDGE_IN_USE,
  BRIDGE_OF_ONE,
  BRIDGE_OTHER_PREFIX,
  BRIDGE_SHARED,
  type Code,
  type Finding,
  severityOf,
} from "./finding.ts";
import { namedPods, podsInSubnet } from "./pods-in-subnet.ts";
import type { RemedyCommand } from "./remedy-command.ts";

/** Checks that every bridge has the gateway's address of its network, and that ADDs from every range can work. */
export function bridgeFindings(node: Node, networks: readonly FoundNetwork[]): readonly Finding[] {
  const { interfaces } = node.links;
  const unusable = networks.flatMap((network) => unusableFindings(node, network));
  const bridged = networks.flatMap((network): readonly BridgedNetwork[] => {
    const { bridge, rangeSets } = network;
    // What is no bridge is told as such, and nothing is to be changed of it.
    if (bridge === undefined || hasOtherInterface(network, node.links)) return [];
    const addresses = interfaces?.get(bridge.name);
    const { served, others } = shareBridge(rangeSets, addresses ?? []);
    return [{ network, bridge, served, others, addresses }];
  });
  if (bridged.length === 0) return unusable;
  if (interfaces === undefined) {
    const message = "the addresses of bridges were not checked: the kernel does not tell them here";
    return [...unusable, { code: "interfaces-unread", network: "", path: "", message }];
  }
  return [...unusable, ...bridged.flatMap((one) => checkBridge(node, one, bridged))];
}

function unusableFindings(node: Node, network: FoundNetwork): readonly Finding[] {
  const { files, source = "" } = network;
  return unusableRanges(network, node.links).map(({ isRefused, reason: message, remedy }) => {
    // With forceAddress the next ADD takes the gateway from living pods.
    const severity = isRefused || network.bridge?.isForced === true ? "error" : "warning";
    const about = { code: "unusable-range", severity, message, remedy } as const;
    return { ...about, network: files.network, path: source };
  });
}

/** A network whose bridge has the gateways' addresses. */
interface BridgedNetwork {
  readonly network: FoundNetwork;
  readonly bridge: Bridge;
  /** The ranges whose gateways it can have. */
  readonly served: readonly Range[];
  readonly others: readonly Range[];
  /** The addresses in the order of the kernel; `undefined` where there is no such bridge, or its addresses are not known. */
  readonly addresses: readonly InterfaceAddress[] | undefined;
}

/** A missing bridge is fine: the next ADD creates it. */
function checkBridge(
  node: Node,
  bridged: BridgedNetwork,
  all: readonly BridgedNetwork[],
): readonly Finding[] {
  const { addresses, served, others } = bridged;
  if (addresses === undefined) return [];
  const byGateway = Map.groupBy(served, (range) => formatInterfaceAddress(gatewayOf(range)));
  return [
    ...[...byGateway.values()].flatMap(([range]) =>
      range === undefined ? [] : checkGateway(node, { ...bridged, addresses }, range, all),
    ),
    ...others.flatMap((range) => lostAddress(node, bridged, addresses, range)),
  ];
}

/**
 * Checks that the next ADD from a range finds its gateway on the bridge, or can give it that.
 *
 * @param range one of those with this gateway
 */
function checkGateway(
  node: Node,
  bridged: BridgedNetwork & { readonly addresses: readonly InterfaceAddress[] },
  range: Range,
  all: readonly BridgedNetwork[],
): readonly Finding[] {
  const { bridge, addresses } = bridged;
  const gateway = gatewayOf(range);
  const isThere = addresses.some((one) => isSameInterfaceAddress(one, gateway));
  const lost = lostAddress(node, bridged, addresses, range);
  const found = inTheWayOf(gateway, addresses);
  const former = isThere
    ? undefined
    : found.find(({ address }) => isSame(address, gateway.address));
  // The new address comes before what the kernel keeps behind the first one of a subnet.
  const stale = former === undefined ? found : found.filter((one, at) => isFirst(found, one, at));
  if (stale.length === 0) return lost;
  // Of pods that may be dead, a second finding on the same bridge would only distract.
  const certain = lost.filter((one) => severityOf(one) === "error");
  if (bridge.isForced) return certain;
  const others = stale.map(formatInterfaceAddress).join(", ");
  const expected = formatInterfaceAddress(gateway);
  const message = isThere
    ? `${bridge.name} has ${others} before the gateway ${expected}, and the bridge plugin looks at the first`
    : `${bridge.name} has ${others}; expected the gateway ${expected}`;
  const sharing = all.find(
    (other) =>
      other.network.files.directory !== bridged.network.files.directory &&
      other.bridge.name === bridge.name &&
      other.served.some((one) => stale.some((old) => isSameInterfaceAddress(old, gatewayOf(one)))),
  );
  if (sharing !== undefined) {
    const said = onSharing(node, bridged, sharing, message);
    return [{ ...about(bridged, "bridge-address", message), ...said }];
  }
  const uses = stale.flatMap((one) => useOf(node, bridge, one, range));
  if (uses.length > 0) {
    const text = [message, ...uses].join("; ");
    return [{ ...about(bridged, "bridge-address", text), remedy: BRIDGE_IN_USE }, ...certain];
  }
  // With the first address of a subnet the kernel removes the others of it, see promote_secondaries in ip-sysctl: so it is the
  // last of them to go, and what stays is set again.
  const removed = stale.filter((one) => one !== former);
  const staying = addresses.filter(
    (one) =>
      !stale.includes(one) &&
      (isSameInterfaceAddress(one, gateway) || stale.some((other) => isBeside(one, other))),
  );
  const commands = [
    ...(former === undefined ? [] : [exchange(former, gateway, bridge)]),
    ...removed.toReversed().map((one) => ({ run: [addressCommand("del", one, bridge)] })),
    ...staying.map((one) => ({ run: [addressCommand("replace", one, bridge)] })),
  ];
  const remedy = former === undefined ? {} : { remedy: BRIDGE_OTHER_PREFIX };
  return [{ ...about(bridged, "bridge-address", message), ...remedy, commands }, ...certain];
}

/**
 * What is said of a network whose bridge has the gateway of another one. It is no fault of the bridge where a runtime reads the file
 * of one of them alone.
 */
function onSharing(
  node: Node,
  { network: one }: BridgedNetwork,
  { network: other }: BridgedNetwork,
  found: string,
): Partial<Finding> {
  const message = `${found}; the other one is the gateway of ${other.files.network}`;
  if (isBehind(one, other)) {
    // Its pods get addresses of the other, whose bridge is as it is to be.
    const text = `${message}; ${formatOrder(other, one)}`;
    return { severity: "warning", message: text, remedy: BRIDGE_OF_ONE };
  }
  if (isBehind(other, one)) {
    return { message: `${message}; ${formatOrder(one, other)}`, remedy: BRIDGE_OF_ONE };
  }
  // Of multus' networks in libcni's cache there is no file.
  const areFiles = isInUse(one.use) && isInUse(other.use);
  if (!areFiles || one.use?.file.directory === other.use?.file.directory) {
    return { message, remedy: BRIDGE_SHARED };
  }
  const directory = node.directories.find(({ networks }) => networks.includes(one));
  // It may be left over.
  const severity = directory?.listed.length === 0 ? "warning" : "error";
  return { severity, message: `${message}, in another directory`, remedy: BRIDGE_OF_ONE };
}

/** Whether the runtimes of Kubernetes use the file of another network in place of a network's own. */
function isBehind({ use }: FoundNetwork, first: FoundNetwork): boolean {
  return use?.kind === "byName" && use.other !== undefined && use.other === first.use?.file;
}

function formatOrder(first: FoundNetwork, second: FoundNetwork): string {
  return `${first.source} comes before ${second.source}, and the runtimes of Kubernetes use the first alone`;
}

/** Gives an address another prefix length. IPv4 has both for a moment; of IPv6 the kernel has an address once. */
function exchange(
  former: InterfaceAddress,
  gateway: InterfaceAddress,
  bridge: Bridge,
): RemedyCommand {
  const remove = addressCommand("del", former, bridge);
  const add = addressCommand("add", gateway, bridge);
  // The address answers at once: that nobody else has it was known before.
  return { run: gateway.address.family === 4 ? [add, remove] : [remove, [...add, "nodad"]] };
}

/** Whether no address of a list comes before one of its subnet. */
function isFirst(all: readonly InterfaceAddress[], one: InterfaceAddress, at: number): boolean {
  return !all.slice(0, at).some((other) => isBeside(one, other));
}

/** Whether two addresses of an interface are in the same subnet. */
function isBeside(one: InterfaceAddress, other: InterfaceAddress): boolean {
  return one.prefixLength === other.prefixLength && isWithin(one.address, subnetWith(other));
}

function addressCommand(
  verb: "add" | "del" | "replace",
  address: InterfaceAddress,
  { name }: Bridge,
): readonly string[] {
  return ["ip", "addr", verb, formatInterfaceAddress(address), "dev", name];
}

/**
 * Whose gateway an address is, or may be: that of the pods with an address of its subnet, unless they have another one; of
 * whoever else has one, by the kernel; or of what is at the bridge. Where it is the gateway of a range with another prefix
 * length, those of its subnet keep it.
 */
function useOf(node: Node, bridge: Bridge, one: InterfaceAddress, range: Range): readonly string[] {
  const { address } = one;
  const subnet = subnetWith(one);
  const isKept = isSame(address, gatewayOf(range).address);
  const kept = isKept ? subnetOf(range) : undefined;
  const gateway = formatAddress(address);
  const pods = podsInSubnet(node, subnet, address, kept);
  if (pods !== undefined)
    return [`${gateway} ${pods.areLiving ? "is" : "may be"} the gateway of ${pods.text}`];
  const [user] = node.liveness.whose.othersIn(subnet, kept);
  if (user !== undefined) return [`${user} may have the gateway ${gateway}`];
  if (isKept) return [];
  const ports = node.links.ports.get(bridge.name);
  if (ports === undefined)
    return [`what is at ${bridge.name} is not seen, and may have the gateway ${gateway}`];
  return ports.length === 0
    ? []
    : [`${namedPods(ports)} at ${bridge.name} may have the gateway ${gateway}`];
}

/** The next ADD sets the address, but there may be none: the range may be full. */
function lostAddress(
  node: Node,
  bridged: BridgedNetwork,
  addresses: readonly InterfaceAddress[],
  range: Range,
): readonly Finding[] {
  const gateway = gatewayOf(range);
  // With another prefix length it answers its pods, too.
  if (addresses.some(({ address }) => isSame(address, gateway.address))) return [];
  const pods = podsInSubnet(node, subnetOf(range), gateway.address);
  if (pods === undefined) return [];
  const { bridge } = bridged;
  const message = `${bridge.name} lacks ${formatInterfaceAddress(gateway)}, the gateway of ${pods.text}`;
  return [
    {
      ...about(bridged, "bridge-without-address", message),
      severity: pods.areLiving ? "error" : "warning",
      commands: [{ run: [addressCommand("add", gateway, bridge)] }],
    },
  ];
}

function about({ network }: BridgedNetwork, code: Code, message: string): Finding {
  const { files, source = "" } = network;
  return { code, network: files.network, path: source, message };
}
