/** Findings on bridges that do not have the gateway's address, as after the network got another subnet. */

import { plural } from "../../cli/output/plural.ts";
import { type Address, formatAddress, isSame, overlaps, parseAddress } from "../../ipam/address.ts";
import type { Range } from "../../ipam/range.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { Bridge } from "../configured/main-plugin.ts";
import { type InterfaceAddress, type Link, type Links, portsOf } from "../facts/links.ts";
import {
  formatInterfaceAddress,
  gatewayOf,
  isSameInterfaceAddress,
  reachableIn,
  subnetOf,
  subnetWith,
} from "../judgements/bridge-plugin.ts";
import type { Node } from "../node.ts";
import {
  BRIDGE_IN_USE,
  BRIDGE_OTHER_PREFIX,
  BRIDGE_SHARED,
  type Code,
  FILES_OF_NETWORKS,
  type Finding,
  GATEWAY_CHANGED,
  OTHER_DIRECTORY,
  severityOf,
} from "./finding.ts";
import { podOrContainer } from "./holder.ts";
import { namedPods, podsInSubnet } from "./pods-in-subnet.ts";
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
  // The next ADD makes one that is missing.
  if (bridge === undefined || link === undefined) return [];
  return ([4, 6] as const).flatMap((family) => {
    const isOwn = (range: Range): boolean =>
      range.family === family && (range.gateway === undefined || range.gateway.family === family);
    const ranges = rangeSets.flat().filter(isOwn);
    const at = { node, links, network, bridge, link, named: named ?? link, ranges };
    const wrong = wrongAddress(at);
    const lost = lostAddresses(at);
    // Of pods that may be dead, a second finding on the same bridge would only distract.
    return [...wrong, ...lost.filter((one) => wrong.length === 0 || severityOf(one) === "error")];
  });
}

/** A network with its bridge, and its ranges of one family. */
interface Bridged {
  readonly node: Node;
  readonly links: Links;
  readonly network: FoundNetwork;
  readonly bridge: Bridge;
  /** The interface with the gateways' addresses. */
  readonly link: Link;
  /** The bridge itself, which is another interface with a VLAN. */
  readonly named: Link;
  readonly ranges: readonly Range[];
}

/** The bridge has other addresses, and no gateway: the next ADD fails ("already has an IP address different from"). */
function wrongAddress(bridged: Bridged): readonly Finding[] {
  const { node, network, bridge, link, ranges } = bridged;
  const gateways = ranges.map(gatewayOf);
  // Of IPv6 a bridge may have any others.
  const isInTheWay = (one: InterfaceAddress): boolean =>
    ranges.some(
      (range) =>
        range.family === one.address.family &&
        (range.family === 4 || overlaps(subnetWith(one), subnetOf(range))),
    );
  const old = link.addresses.filter(isInTheWay);
  const isGateway = (one: InterfaceAddress): boolean =>
    gateways.some((gateway) => isSameInterfaceAddress(gateway, one));
  if (old.length === 0 || link.addresses.some(isGateway)) return [];
  const expected = new Set(gateways.map(formatInterfaceAddress));
  const has = `${bridge.name} has ${old.map(formatInterfaceAddress).join(", ")}`;
  const message = `${has}; expected the gateway ${[...expected].join(" or ")}`;
  const other = otherWith(bridged, old);
  if (other !== undefined) {
    const text = `${message}; the other one is the gateway of ${other.files.network} in ${other.source}`;
    return [{ ...about(network, "bridge-address", text), ...onOther(node, network, other) }];
  }
  const [one] = old;
  const range = ranges.find((its) => one && isSame(gatewayOf(its).address, one.address));
  const isKept = old.length === 1 && range !== undefined;
  const user = userOf(bridged, old, isKept ? range : undefined);
  if (bridge.isForced) {
    if (user === undefined) return [];
    const text = `${message}; the next ADD takes the address away (forceAddress): ${user}`;
    return [{ ...about(network, "bridge-address", text), remedy: BRIDGE_IN_USE }];
  }
  const found = about(network, "bridge-address", user ? `${message}; ${user}` : message);
  if (user !== undefined) return [{ ...found, remedy: BRIDGE_IN_USE }];
  if (one !== undefined && isKept) {
    const commands = [exchange(one, gatewayOf(range), bridge)];
    return [{ ...found, remedy: BRIDGE_OTHER_PREFIX, commands }];
  }
  // With the first address of a subnet the kernel may remove the others of it.
  const commands = old.toReversed().map((it) => ({ run: [addressCommand("del", it, bridge)] }));
  return [{ ...found, commands }];
}

/** Another configuration whose gateway the bridge has. */
function otherWith(
  { node, network, bridge }: Bridged,
  addresses: readonly InterfaceAddress[],
): FoundNetwork | undefined {
  return node.networks.find(
    (other) =>
      other !== network &&
      other.bridge?.name === bridge.name &&
      other.rangeSets
        .flat()
        .some((range) => addresses.some((one) => isSameInterfaceAddress(one, gatewayOf(range)))),
  );
}

function onOther(node: Node, network: FoundNetwork, other: FoundNetwork): Partial<Finding> {
  if (other.files.directory === network.files.directory) {
    return { severity: "info", remedy: OTHER_DIRECTORY };
  }
  // Pods of the one in use get no address, and those of the other are in use.
  if (network.use?.kind === "used" && other.use?.kind === "byName") {
    return { remedy: FILES_OF_NETWORKS };
  }
  const directory = node.directories.find(({ networks }) => networks.includes(network));
  // Without a reservation it may be one that nobody uses.
  const severity = directory?.listed.length === 0 ? "warning" : "error";
  return { severity, remedy: BRIDGE_SHARED };
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

function addressCommand(
  verb: "add" | "del",
  address: InterfaceAddress,
  { name }: Bridge,
): readonly string[] {
  return ["ip", "addr", verb, formatInterfaceAddress(address), "dev", name];
}

/**
 * Who has addresses of a bridge as the gateway, or may have: pods, whoever has an address of their subnets, what is at the
 * bridge; in words, and `undefined` where nobody does.
 *
 * @param kept the range that keeps the gateway, with another prefix length: those of its subnet lose nothing
 */
function userOf(
  { node, links, named }: Bridged,
  addresses: readonly InterfaceAddress[],
  kept: Range | undefined,
): string | undefined {
  const but = kept && reachableIn(kept);
  for (const one of addresses) {
    const [subnet, gateway] = [subnetWith(one), formatAddress(one.address)];
    const pods = podsInSubnet(node, { subnet, but, gateway: one.address });
    if (pods !== undefined)
      return `${gateway} ${pods.areLiving ? "is" : "may be"} the gateway of ${pods.text}`;
    const [user] = node.liveness.whose.othersIn(subnet, but);
    if (user !== undefined) return `${user} may have the gateway ${gateway}`;
  }
  const ports = kept === undefined ? portsOf(links, named).map(({ name }) => name) : [];
  return ports.length === 0 ? undefined : `${namedPods(ports)} at ${named.name} may need it`;
}

/** The gateways of pods that no interface has. The next ADD sets them, but there may be none: the range may be full. */
function lostAddresses(bridged: Bridged): readonly Finding[] {
  const { node, links, network, bridge, ranges } = bridged;
  const all = [...links.values()].flatMap(({ addresses }) => addresses);
  const byGateway = new Map(
    ranges.map((range) => [formatInterfaceAddress(gatewayOf(range)), range]),
  );
  const isThere = (one: Address): boolean => all.some(({ address }) => isSame(address, one));
  const configured = [...byGateway].flatMap(([text, range]): readonly Finding[] => {
    const gateway = gatewayOf(range);
    // With another prefix length it answers its pods, too.
    if (isThere(gateway.address)) return [];
    const subnet = subnetOf(range);
    const pods = podsInSubnet(node, { subnet, gateway: gateway.address, of: network });
    if (pods === undefined) return [];
    const message = `${bridge.name} lacks ${text}, the gateway of ${pods.text}`;
    return [
      {
        ...about(network, "bridge-without-address", message),
        severity: pods.areLiving ? "error" : "warning",
        commands: [{ run: [addressCommand("add", gateway, bridge)] }],
      },
    ];
  });
  return [...configured, ...formerGateways(bridged, isThere)];
}

/** The gateways that living pods have by libcni's cache, that no range has, and no interface, as after a change of the subnet. */
function formerGateways(
  { node, network, bridge, ranges }: Bridged,
  isThere: (gateway: Address) => boolean,
): readonly Finding[] {
  const { bridgeName = "", files } = network;
  const pods = new Map<string, string[]>();
  for (const attachment of node.liveness.whose.known().attachments) {
    const { gateways, hostInterfaces } = attachment;
    if (attachment.network !== files.network || !hostInterfaces.includes(bridgeName)) continue;
    if (node.liveness.livenessOfAttachment(attachment).liveness !== "alive") continue;
    for (const gateway of gateways.flatMap((one) => parseAddress(one) ?? [])) {
      const isOfRange = ranges.some((range) => isSame(gatewayOf(range).address, gateway));
      const isOfFamily = ranges.some(({ family }) => family === gateway.family);
      if (isOfRange || !isOfFamily || isThere(gateway)) continue;
      const text = formatAddress(gateway);
      pods.set(text, [...(pods.get(text) ?? []), podOrContainer(attachment)]);
    }
  }
  return [...pods].map(([gateway, names]) => {
    const which = `${plural(names.length, "living pod")}: ${namedPods(names)}`;
    const message = `${bridge.name} lacks ${gateway}, the gateway of ${which}`;
    return { ...about(network, "bridge-without-address", message), remedy: GATEWAY_CHANGED };
  });
}

function about({ files, source = "" }: FoundNetwork, code: Code, message: string): Finding {
  return { code, network: files.network, path: source, message };
}
