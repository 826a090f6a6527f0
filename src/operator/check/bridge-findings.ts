/** Findings on bridges that do not have the gateway's address, as after the network got another subnet. */

import { plural } from "../../cli/output/plural.ts";
import { formatAddress, isSame, overlaps, parseAddress } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import type { Liveness } from "../../store/life/conclusion.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { Bridge } from "../configured/main-plugin.ts";
import { type InterfaceAddress, type Link, type Links, portsOf } from "../facts/links.ts";
import {
  formatInterfaceAddress,
  gatewayOf,
  isSameInterfaceAddress,
  subnetOf,
  subnetWith,
} from "../judgements/bridge-plugin.ts";
import type { Node } from "../node.ts";
import type { Code, Finding, Severity } from "./finding.ts";
import { namedPods, podOrContainer } from "./holder.ts";
import type { RemedyCommand } from "./remedy-command.ts";

/** Checks that the bridge of each network is one, and has the gateway's address. */
export function bridgeFindings(node: Node): readonly Finding[] {
  const bridged = node.askedNetworks.filter(({ bridgeName }) => bridgeName !== undefined);
  if (bridged.length === 0) return [];
  const links = node.links();
  if (links !== undefined) return bridged.flatMap((network) => checkBridge(node, links, network));
  const message = "the addresses of bridges were not checked: the kernel does not tell them here";
  return [{ code: "interfaces-unread", network: "", path: "", message }];
}

function checkBridge(node: Node, links: Links, network: FoundNetwork): readonly Finding[] {
  const { bridge, bridgeName = "", rangeSets } = network;
  const named = links.get(bridgeName);
  if (named !== undefined && named.kind !== "bridge") {
    const message = `${bridgeName}, which the configuration names as the bridge, is another interface: every ADD fails`;
    const remedy = `name another bridge in the member bridge of the configuration; ${bridgeName} stays as it is`;
    return [{ ...about(network, "bridge-address", message), remedy }];
  }
  const link = bridge && links.get(bridge.name);
  // The next ADD makes a missing bridge.
  if (bridge === undefined || link === undefined) return [];
  const ports = portsOf(links, named ?? link).map(({ name }) => name);
  const families = ([4, 6] as const).flatMap((family) => {
    const isOwn = (range: Range): boolean =>
      range.family === family && (range.gateway === undefined || range.gateway.family === family);
    const ranges = rangeSets.flat().filter(isOwn);
    return wrongAddress({ node, network, bridge, link, ports, ranges });
  });
  return [...families, ...lostGateways(node, links, network, bridge)];
}

/** A network with its bridge, and its ranges of one family. */
interface Bridged {
  readonly node: Node;
  readonly network: FoundNetwork;
  readonly bridge: Bridge;
  /** The interface with the gateways' addresses: the bridge, or its interface of a VLAN. */
  readonly link: Link;
  /** The names of the interfaces at the bridge: without any, no pod is connected to it. */
  readonly ports: readonly string[];
  readonly ranges: readonly Range[];
}

/** The bridge has other addresses, and no gateway: the next ADD fails ("already has an IP address different from"). */
function wrongAddress({ node, network, bridge, link, ports, ranges }: Bridged): readonly Finding[] {
  const gateways = ranges.map(gatewayOf);
  // An IPv6 address of another subnet is not in the way.
  const isInTheWay = (existing: InterfaceAddress): boolean =>
    ranges.some(
      (range) =>
        range.family === existing.address.family &&
        (range.family === 4 || overlaps(subnetWith(existing), subnetOf(range))),
    );
  const old = link.addresses.filter(isInTheWay);
  if (old.length === 0 || areGatewayOf(link.addresses, ranges)) return [];
  const expected = new Set(gateways.map(formatInterfaceAddress));
  const has = `${bridge.name} has ${old.map(formatInterfaceAddress).join(", ")}`;
  const message = `${has}; expected the gateway ${[...expected].join(" or ")}`;
  const other = node.networks.find(
    (candidate) =>
      candidate !== network &&
      candidate.bridge?.name === bridge.name &&
      areGatewayOf(old, candidate.rangeSets.flat()),
  );
  if (other !== undefined) {
    const text = `${message}; the other one is the gateway of ${other.files.network} in ${other.source}`;
    const severity = severityBeside(node, network, other);
    const remedy =
      "if both networks are meant, give each a bridge of its own, in the member bridge of its configuration; otherwise move the file that is not meant out of its directory: the one in use only on a drained node";
    return [{ ...about(network, "bridge-address", text), severity, remedy }];
  }
  const [former] = old;
  const widened = gateways.find(
    ({ address, prefixLength }) =>
      former !== undefined && isSame(address, former.address) && prefixLength < former.prefixLength,
  );
  if (former !== undefined && old.length === 1 && widened !== undefined) {
    // The next ADD does it by itself (`forceAddress`).
    if (bridge.isForced) return [];
    const remedy =
      "if the configuration is right, give the gateway the prefix length of the subnet: no pod loses it";
    const commands = [exchange(former, widened, bridge)];
    return [{ ...about(network, "bridge-address", message), remedy, commands }];
  }
  const { attachments, unreadable } = node.liveness.whose.known();
  const users = podsByGateway(attachments.filter((known) => lifeOf(node, known) !== "dead"));
  const lost = old.map(({ address }) => formatAddress(address)).find((text) => users.has(text));
  const unseen = "a pod of libcni's cache, which cannot be read,";
  const others = unreadable === undefined ? ports : [...ports, unseen];
  if (others.length > 0 || lost !== undefined) {
    const user =
      lost === undefined
        ? `${namedPods(others)} at ${bridge.name} may need it`
        : `${lost} is the gateway of ${users.get(lost)}`;
    const taken = bridge.isForced ? "the next ADD takes the address away (forceAddress): " : "";
    const text = `${message}; ${taken}${user}`;
    const remedy =
      "correct the configuration: who has this gateway loses it if the address is removed. If the new range is meant, drain the node first and run check again, or give the network another bridge";
    return [{ ...about(network, "bridge-address", text), remedy }];
  }
  if (bridge.isForced) return [];
  // With the first address of a subnet the kernel may remove the others of it.
  const commands = old
    .toReversed()
    .map((address) => ({ run: [addressCommand("del", address, bridge)] }));
  return [{ ...about(network, "bridge-address", message), commands }];
}

/** Whether one of these addresses is the gateway of one of the ranges. */
function areGatewayOf(addresses: readonly InterfaceAddress[], ranges: readonly Range[]): boolean {
  const gateways = ranges.map(gatewayOf);
  return addresses.some((own) => gateways.some((gateway) => isSameInterfaceAddress(own, gateway)));
}

/** How bad it is for a network that the bridge has the gateway of another one. */
function severityBeside(node: Node, network: FoundNetwork, other: FoundNetwork): Severity {
  // `other` is a copy of the network's configuration in another directory.
  if (other.files.directory === network.files.directory) return "info";
  // Pods of the network in use get no address, and the pods of the other network are in use.
  if (network.use?.kind === "used" && other.use?.kind === "byName") return "error";
  const directory = node.directories.find(({ networks }) => networks.includes(network));
  // A network without a reservation may be one that nobody uses.
  return directory?.listed.length === 0 ? "warning" : "error";
}

/** Gives an address another prefix length: IPv4 allows both for a moment, IPv6 an address only once. */
function exchange(
  former: InterfaceAddress,
  gateway: InterfaceAddress,
  bridge: Bridge,
): RemedyCommand {
  const remove = addressCommand("del", former, bridge);
  const add = addressCommand("add", gateway, bridge);
  // The address answers at once (`nodad`): it was known before that nobody else has it.
  return { run: gateway.address.family === 4 ? [add, remove] : [remove, [...add, "nodad"]] };
}

function addressCommand(
  verb: "add" | "del",
  address: InterfaceAddress,
  { name }: Bridge,
): readonly string[] {
  return ["ip", "addr", verb, formatInterfaceAddress(address), "dev", name];
}

/**
 * The gateways of living pods that no interface has: one of a range, or one from before the configuration was changed. The next ADD
 * sets the former, but there may be none: the range may be full.
 */
function lostGateways(
  node: Node,
  links: Links,
  network: FoundNetwork,
  bridge: Bridge,
): readonly Finding[] {
  const existing = [...links.values()].flatMap(({ addresses }) => addresses);
  const configured = network.rangeSets.flat().map(gatewayOf);
  const { files, bridgeName = "" } = network;
  // Who lives is asked last: there may be attachments of many networks.
  const atBridge = node.liveness.whose
    .known()
    .attachments.filter(({ network }) => network === files.network)
    .filter(({ hostInterfaces }) => hostInterfaces.includes(bridgeName))
    .filter((attachment) => lifeOf(node, attachment) === "alive");
  return [...podsByGateway(atBridge)].flatMap(([text, pods]): readonly Finding[] => {
    const gateway = parseAddress(text);
    const isGateway = ({ address }: InterfaceAddress): boolean =>
      gateway !== undefined && isSame(address, gateway);
    // A gateway with another prefix length answers its pods, too.
    if (gateway === undefined || existing.some(isGateway)) return [];
    const message = `${bridge.name} lacks ${text}, the gateway of ${pods}`;
    const found = about(network, "bridge-without-address", message);
    const own = configured.find(isGateway);
    const remedy = "restart these pods, which then get the gateway that is configured now";
    return own === undefined
      ? [{ ...found, remedy }]
      : [{ ...found, commands: [{ run: [addressCommand("add", own, bridge)] }] }];
  });
}

function lifeOf({ liveness }: Node, attachment: CachedAttachment): Liveness {
  return liveness.livenessOfAttachment(attachment).liveness;
}

/** The pods of attachments, by the gateways that their results have. */
function podsByGateway(attachments: readonly CachedAttachment[]): ReadonlyMap<string, string> {
  const pods = new Map<string, Set<string>>();
  for (const attachment of attachments) {
    for (const gateway of attachment.gateways) {
      pods.set(gateway, (pods.get(gateway) ?? new Set()).add(podOrContainer(attachment)));
    }
  }
  const textOf = (names: ReadonlySet<string>): string =>
    `${plural(names.size, "pod")}: ${namedPods([...names])}`;
  return new Map([...pods].map(([gateway, names]) => [gateway, textOf(names)]));
}

function about({ files, source = "" }: FoundNetwork, code: Code, message: string): Finding {
  return { code, network: files.network, path: source, message };
}
