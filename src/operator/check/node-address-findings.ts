/** Findings on what the node and its routers have of a network's addresses: one that ADD hands out, or a whole network. */

import {
  type Address,
  formatAddress,
  isSame,
  isWithin,
  overlaps,
  parseAddress,
} from "../../ipam/address.ts";
import { isExcluded } from "../../ipam/exclusions.ts";
import { isGateway, type Range } from "../../ipam/range.ts";
import { rangeOf } from "../../ipam/range-set.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import { type InterfaceAddress, type Links, portsOf } from "../facts/links.ts";
import type { NextHop } from "../facts/next-hops.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import {
  formatInterfaceAddress,
  formatSubnet,
  gatewayOf,
  subnetOf,
  subnetWith,
} from "../judgements/bridge-plugin.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { describeHolder } from "./holder.ts";

/**
 * Checks whether the node itself has addresses that a network hands out, or its routers do, and whether other networks share
 * them.
 */
export function nodeAddressFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  return directory.networks.flatMap((network) => [
    ...ownAddresses(node, directory, network),
    ...routersOnLink(node, directory, network),
    ...ownNetworks(node, network),
  ]);
}

function ownAddresses(
  node: Node,
  directory: NetworkDirectory,
  network: FoundNetwork,
): readonly Finding[] {
  if (network.rangeSets.length === 0) return [];
  return [...node.liveness.whose.nodeAddresses()].flatMap((text): readonly Finding[] => {
    const address = parseAddress(text);
    if (address === undefined || !isHandedOut(network, address)) return [];
    const interfaceName = interfaceWith(node.links(), address);
    const own = `the node itself has ${text}${interfaceName === "" ? "" : ` (${interfaceName})`}`;
    const [held] = directory.reservationsAt(address);
    if (held === undefined) {
      if (interfaceName === network.bridge?.name && lacksGateway(node, network)) return [];
      const message = `${own}, and it is one of the range: ADD passes over it, but the Go plugin would hand it out`;
      return [freeAddress(network, text, message)];
    }
    const message = `${own}, and ${describeHolder(node, held)} holds it`;
    return [heldAddress(held, message, `${excluding(text)}, then restart this pod`)];
  });
}

/** Whether the bridge has none of its gateways: what it has in their place is a finding of the bridge. */
function lacksGateway(node: Node, { bridge, rangeSets }: FoundNetwork): boolean {
  const { addresses = [] } = node.links()?.get(bridge?.name ?? "") ?? {};
  const gateways = rangeSets.flat().map(gatewayOf);
  return !addresses.some((one) => gateways.some((its) => isSame(its.address, one.address)));
}

/** The routers that the pods of a network share the link with; where the node routes to the pods, they are behind the node. */
function routersOnLink(
  node: Node,
  directory: NetworkDirectory,
  network: FoundNetwork,
): readonly Finding[] {
  const { isRouted, link, bridgeName } = network;
  if (isRouted) return [];
  return node.nextHops().flatMap(({ address, interfaceName }): readonly Finding[] => {
    const isElsewhere = link !== undefined && link !== interfaceName;
    if (isElsewhere || !isHandedOut(network, address)) return [];
    const text = formatAddress(address);
    // What the node itself has is a finding of its own.
    if (node.liveness.whose.nodeAddresses().has(text)) return [];
    // On a bridge a pod may be that router; those of macvlan and ipvlan the node does not reach.
    if (bridgeName !== undefined && !isOutside(node, { address })) return [];
    const router = `${text} is a router of the node (${interfaceName})`;
    const [held] = directory.reservationsAt(address);
    if (held === undefined) {
      const message = `${router}, and one of the range: a pod that gets it takes the router from the network`;
      return [freeAddress(network, text, message)];
    }
    const message = `${router}, and ${describeHolder(node, held)} holds it`;
    const remedy = `${excluding(text)}, then restart this pod, unless it is that router`;
    return [heldAddress(held, message, remedy)];
  });
}

/** Whether an address is one that ADDs get: the gateway of a range is somebody's by right, and handed out by none. */
function isHandedOut({ rangeSets, exclusions }: FoundNetwork, address: Address): boolean {
  const ranges = rangeSets.flat();
  return (
    rangeOf(ranges, address) !== undefined &&
    !ranges.some((range) => isGateway(address, range)) &&
    !isExcluded(address, exclusions)
  );
}

function excluding(text: string): string {
  return `exclude it ("exclude": ["${text}"] in ipam)`;
}

function freeAddress({ files, source = "" }: FoundNetwork, text: string, message: string): Finding {
  const about = { code: "node-address", network: files.network, path: source } as const;
  return { ...about, severity: "warning", message, remedy: excluding(text) };
}

function heldAddress(held: NodeReservation, message: string, remedy: string): Finding {
  const { network } = held.network.files;
  return { code: "node-address", network, path: held.path, file: held, message, remedy };
}

function interfaceWith(links: Links | undefined, address: Address): string {
  const has = (one: InterfaceAddress): boolean => isSame(one.address, address);
  const found = [...(links?.values() ?? [])].find(({ addresses }) => addresses.some(has));
  return found?.name ?? "";
}

/** The node sends packets for an address to one network alone. Bridges of networks are compared by their ranges. */
function ownNetworks(node: Node, network: FoundNetwork): readonly Finding[] {
  const { files, source: path = "", isRouted, rangeSets } = network;
  if (!isRouted || !node.liveness.whose.isInNode()) return [];
  const bridges = new Set(node.networks.map((one) => one.bridge?.name));
  const others = [...(node.links()?.values() ?? [])]
    .filter(({ name }) => !bridges.has(name))
    .flatMap(({ name, addresses }) => addresses.map((address) => ({ name, address })));
  const routers = node
    .nextHops()
    .filter((one) => !bridges.has(one.interfaceName) && isOutside(node, one));
  const ranges = new Map(rangeSets.flat().map((range) => [formatSubnet(range), range]));
  return [...ranges].flatMap(([text, range]): readonly Finding[] => {
    const about = { code: "node-network", network: files.network, path } as const;
    const sharing = others.filter(({ address }) => sharesNetwork(address, range));
    const inside = routers.filter(({ address }) => isWithin(address, subnetOf(range)));
    const found = sharing.map(({ name, address: one }) => {
      const { first: address } = subnetWith(one);
      const met = formatInterfaceAddress({ address, prefixLength: one.prefixLength });
      const message = `the subnet ${text} shares addresses with ${met} of ${name} (${formatAddress(one.address)})`;
      const router = inside.find(({ interfaceName }) => interfaceName === name);
      return router === undefined
        ? { ...about, message, ...adviceOn(node, network, name, one, range) }
        : { ...about, message: `${message}, and has its router ${formatAddress(router.address)}` };
    });
    const alone = inside.filter((one) => sharing.every(({ name }) => name !== one.interfaceName));
    return [
      ...found,
      ...alone.map(({ address, interfaceName }) => {
        const router = `${formatAddress(address)} of the node (${interfaceName})`;
        return { ...about, message: `the subnet ${text} has the router ${router}` };
      }),
    ];
  });
}

/** Whether a next hop is neither the node itself nor a container of it, such as a pod that is a router. */
function isOutside({ liveness }: Node, { address }: Pick<NextHop, "address">): boolean {
  const text = formatAddress(address);
  return !liveness.whose.nodeAddresses().has(text) && liveness.whose.with(text).length === 0;
}

/** Whether the network of an interface's address shares addresses with the subnet of a range. */
function sharesNetwork(one: InterfaceAddress, range: Range): boolean {
  const subnet = subnetWith(one);
  // An address without a network is one that ADD hands out, or none of the range.
  if (isSame(subnet.first, subnet.last)) return false;
  const own = subnetOf(range);
  // flannel0 of flannel's udp backend has the address of the podCIDR itself, with the length of the cluster's.
  return overlaps(own, subnet) && !isSame(one.address, own.first);
}

/** What to do about a network of the node that has addresses of a range, where it is not the usual. */
function adviceOn(
  node: Node,
  { bridge }: FoundNetwork,
  name: string,
  one: InterfaceAddress,
  range: Range,
): Pick<Finding, "severity" | "remedy"> {
  const links = node.links();
  if (links?.get(name)?.kind === "bridge" && isSame(one.address, gatewayOf(range).address)) {
    // Restored, the name would be the wrong one for the pods at the bridge that has it now.
    const now = bridge && links?.get(bridge.name);
    const isVacant = now === undefined || portsOf(links, now).length === 0;
    const advice = isVacant
      ? "restore its name in the configuration, or also change the subnet"
      : "restart the pods at it, and remove it once nothing is at it";
    return {
      remedy: `if ${name} is the network's former bridge, ${advice}: pods on the one do not reach those on the other; otherwise give the network a subnet that no other network of the node has`,
    };
  }
  if (one.prefixLength >= range.prefixLength) return {};
  return {
    severity: "info",
    remedy: `none where nothing behind ${name} has an address of ${formatSubnet(range)}: packets for these go to the network, which has the longer prefix`,
  };
}
