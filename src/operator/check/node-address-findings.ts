/** Findings on what the node and its routers have of a network's addresses: one that ADD hands out, or a whole network. */

import {
  type Address,
  formatAddress,
  isSame,
  isWithin,
  overlaps,
  parseAddress,
} from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { InterfaceAddress, Link } from "../facts/links.ts";
import type { NextHop } from "../facts/next-hops.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { addressIn } from "../judgements/address-in-network.ts";
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
    ...[...ownClaims(node, network), ...routerClaims(node, network)]
      .filter(({ address }) => addressIn(network, address).kind === "handedOut")
      .flatMap((claim) => claimFinding(node, directory, network, claim)),
    ...ownNetworks(node, network),
  ]);
}

/** An address that the node or a router has by right. */
interface Claim {
  readonly address: Address;
  /** Who has it, as a clause. */
  readonly owner: string;
  /** What that means while the address is free, as a clause. */
  readonly consequence: string;
  /** An exception to the advice to restart the pod that has it, as a clause; may be empty. */
  readonly unless: string;
}

function ownClaims(node: Node, network: FoundNetwork): readonly Claim[] {
  const links = [...(node.links()?.values() ?? [])];
  const has = ({ addresses }: Link, address: Address): boolean =>
    addresses.some((own) => isSame(own.address, address));
  const gateways = network.rangeSets.flat().map((range) => gatewayOf(range).address);
  return [...node.liveness.whose.nodeAddresses()].flatMap((text): readonly Claim[] => {
    const address = parseAddress(text);
    if (address === undefined) return [];
    const link = links.find((link) => has(link, address));
    const isOfBridge = link !== undefined && link.name === network.bridge?.name;
    // What a bridge has in place of its gateways is a finding of the bridge.
    if (isOfBridge && !gateways.some((gateway) => has(link, gateway))) return [];
    const owner = `the node itself has ${text}${link === undefined ? "" : ` (${link.name})`}`;
    const consequence =
      "it is one of the range: ADD passes over it, but the Go plugin would hand it out";
    return [{ address, owner, consequence, unless: "" }];
  });
}

/** The routers on the link of a network's pods; none where the node routes to the pods, since its routers are behind it. */
function routerClaims(node: Node, network: FoundNetwork): readonly Claim[] {
  const { isRouted, link, bridgeName } = network;
  if (isRouted) return [];
  return node.nextHops().flatMap(({ address, interfaceName }): readonly Claim[] => {
    const text = formatAddress(address);
    const isElsewhere = link !== undefined && link !== interfaceName;
    // An address of the node itself is a claim of its own.
    if (isElsewhere || node.liveness.whose.nodeAddresses().has(text)) return [];
    // On a bridge a pod may be that router; the node does not reach pods of macvlan and ipvlan.
    if (bridgeName !== undefined && !isOutside(node, { address })) return [];
    const owner = `${text} is a router of the node (${interfaceName})`;
    const consequence = "one of the range: a pod that gets it takes the router from the network";
    return [{ address, owner, consequence, unless: ", unless it is that router" }];
  });
}

function claimFinding(
  node: Node,
  directory: NetworkDirectory,
  { files, source = "" }: FoundNetwork,
  { address, owner, consequence, unless }: Claim,
): Finding {
  const about = { code: "node-address", network: files.network } as const;
  const exclude = `exclude it ("exclude": ["${formatAddress(address)}"] in ipam)`;
  const [held] = directory.heldAt(formatAddress(address));
  if (held === undefined) {
    const message = `${owner}, and ${consequence}`;
    return { ...about, path: source, severity: "warning", message, remedy: exclude };
  }
  const message = `${owner}, and ${describeHolder(node, held)} holds it`;
  const remedy = `${exclude}, then restart this pod${unless}`;
  return { ...about, path: held.path, file: held, message, remedy };
}

/**
 * The findings on other networks of the node, which sends packets for an address to one network alone. Bridges of networks are
 * compared by their ranges.
 */
function ownNetworks(node: Node, network: FoundNetwork): readonly Finding[] {
  const { files, source: path = "", isRouted, rangeSets } = network;
  if (!isRouted || !node.liveness.whose.isInNode()) return [];
  const about = { code: "node-network", network: files.network, path } as const;
  const bridges = new Set(node.networks.map(({ bridge }) => bridge?.name));
  const links = [...(node.links()?.values() ?? [])].filter(({ name }) => !bridges.has(name));
  const routers = node
    .nextHops()
    .filter((hop) => !bridges.has(hop.interfaceName) && isOutside(node, hop));
  const subnets = new Map(rangeSets.flat().map((range) => [formatSubnet(range), range]));
  return [...subnets].flatMap(([subnet, range]) => {
    const shared = links.flatMap(({ name, addresses }) =>
      addresses
        .filter((own) => takesFrom(own, range))
        .map((own) => {
          const network = formatInterfaceAddress({ ...own, address: subnetWith(own).first });
          return `shares addresses with ${network} of ${name} (${formatAddress(own.address)})`;
        }),
    );
    const inside = routers
      .filter(({ address }) => isWithin(address, subnetOf(range)))
      .map(
        (hop) => `has the router ${formatAddress(hop.address)} of the node (${hop.interfaceName})`,
      );
    return [...shared, ...inside].map(
      (what): Finding => ({ ...about, message: `the subnet ${subnet} ${what}` }),
    );
  });
}

/** Whether a next hop is neither the node itself nor a container of it, such as a pod that is a router. */
function isOutside({ liveness }: Node, { address }: Pick<NextHop, "address">): boolean {
  const text = formatAddress(address);
  return !liveness.whose.nodeAddresses().has(text) && liveness.whose.with(text).length === 0;
}

/**
 * Whether packets for an interface's network and for the subnet of a range get in each other's way. A larger network does no
 * harm, since the subnet has the longer prefix; an address without a network is one that ADD hands out, or outside the range.
 */
function takesFrom(own: InterfaceAddress, range: Range): boolean {
  const network = subnetWith(own);
  const isNetwork = !isSame(network.first, network.last);
  return isNetwork && own.prefixLength >= range.prefixLength && overlaps(subnetOf(range), network);
}
