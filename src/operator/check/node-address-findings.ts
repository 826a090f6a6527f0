/** Findings on what the node itself has of a network's addresses: one that ADD hands out, or a whole network. */

import { formatAddress, isSame, overlaps, parseAddress } from "../../ipam/address.ts";
import { isExcluded } from "../../ipam/exclusions.ts";
import { isGateway, type Range } from "../../ipam/range.ts";
import { rangeOf } from "../../ipam/range-set.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { Interfaces } from "../alive/interfaces.ts";
import {
  formatInterfaceAddress,
  formatSubnet,
  gatewayOf,
  type InterfaceAddress,
  inTheWayOf,
  shareBridge,
  subnetOf,
  subnetWith,
} from "../configured/bridge-plugin.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import { describeContainer } from "./attachment-findings.ts";
import type { Finding } from "./finding.ts";

/** Checks whether the node itself has addresses that a network hands out, or other networks that share them. */
export function nodeAddressFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  return directory.networks.flatMap((network) => [
    ...ownAddresses(node, directory, network),
    ...ownNetworks(node, network),
  ]);
}

function ownAddresses(
  node: Node,
  directory: NetworkDirectory,
  network: FoundNetwork,
): readonly Finding[] {
  const { files, source = "", rangeSets, exclusions } = network;
  const ranges = rangeSets.flat();
  if (ranges.length === 0) return [];
  // A former gateway is a finding of the bridge, and goes from it.
  const onBridge = node.bridgeAddressesOf(network);
  const { served } = shareBridge(rangeSets, onBridge);
  const former = served.flatMap((range) => inTheWayOf(gatewayOf(range), onBridge));
  return [...node.liveness.nodeAddresses()].flatMap((text): readonly Finding[] => {
    const address = parseAddress(text);
    if (address === undefined || rangeOf(ranges, address) === undefined) return [];
    // The gateway of a range is the node's by right, and handed out by none.
    if (ranges.some((range) => isGateway(address, range))) return [];
    if (isExcluded(address, exclusions)) return [];
    if (former.some((one) => isSame(one.address, address))) return [];
    const interfaceName = interfaceWith(node.interfaces, { address });
    const own = `the node itself has ${text}${interfaceName === "" ? "" : ` (${interfaceName})`}`;
    const [held] = directory.reservationsAt(address);
    const about = { code: "node-address", network: files.network } as const;
    const exclude = `exclude it ("exclude": ["${text}"] in ipam)`;
    if (held === undefined) {
      const message = `${own}, and it is one of the range: ADD passes over it, but the Go plugin would hand it out`;
      return [{ ...about, severity: "warning", path: source, message, remedy: exclude }];
    }
    const container = containerOf(held.owner) || "no container";
    const holder = describeContainer({ pod: node.cache.podOf(held), containerId: container });
    return [
      {
        ...about,
        path: held.path,
        file: held,
        message: `${own}, and ${holder} holds it`,
        remedy: `${exclude}, then restart this pod`,
      },
    ];
  });
}

function interfaceWith(
  interfaces: Interfaces | undefined,
  { address }: Pick<InterfaceAddress, "address">,
): string {
  const all = [...(interfaces ?? [])];
  const found = all.find(([, addresses]) => addresses.some((one) => isSame(one.address, address)));
  return found?.[0] ?? "";
}

/** The node sends packets for an address to one network alone. Bridges of networks are compared by their ranges. */
function ownNetworks(node: Node, network: FoundNetwork): readonly Finding[] {
  const { files, source: path = "", isRouted, rangeSets } = network;
  if (!isRouted || !node.liveness.isInNode()) return [];
  const bridges = new Set(node.networks.map((one) => one.bridge?.name));
  const ranges = new Map(rangeSets.flat().map((range) => [formatSubnet(range), range]));
  const others = [...(node.interfaces ?? [])].filter(([name]) => !bridges.has(name));
  return others.flatMap(([name, addresses]) =>
    addresses.flatMap((one): readonly Finding[] => {
      const subnet = subnetWith(one);
      // An address without a network is one that ADD hands out, or none of the range.
      if (isSame(subnet.first, subnet.last)) return [];
      return [...ranges].flatMap(([text, range]): readonly Finding[] => {
        const own = subnetOf(range);
        if (!overlaps(own, subnet)) return [];
        // flannel0 of flannel's udp backend has the address of the podCIDR itself, with the length of the cluster's.
        if (isSame(one.address, own.first)) return [];
        const met = formatInterfaceAddress({
          address: subnet.first,
          prefixLength: one.prefixLength,
        });
        const message = `the subnet ${text} shares addresses with ${met} of ${name} (${formatAddress(one.address)})`;
        const about = { code: "node-network", network: files.network, path, message } as const;
        return [{ ...about, ...adviceOn(node, network, name, one, range) }];
      });
    }),
  );
}

/** What to do about a network of the node that has addresses of a range, where it is not the usual. */
function adviceOn(
  node: Node,
  { bridge }: FoundNetwork,
  name: string,
  one: InterfaceAddress,
  range: Range,
): Pick<Finding, "severity" | "remedy"> {
  if (isSame(one.address, gatewayOf(range).address)) {
    // Restored, the name would be the wrong one for the pods at the bridge that has it now.
    const isVacant =
      bridge === undefined ||
      node.interfaces?.has(bridge.name) === false ||
      node.portsOf(bridge)?.length === 0;
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
