/** Bridges that do not have the gateway's address: then no pod gets out, and the next ADD may be refused. */

import {
  type Address,
  type Family,
  formatAddress,
  isSame,
  isWithin,
  parseAddress,
} from "../../ipam/address.ts";
import { addressRangeOf } from "../../ipam/prefix.ts";
import type { Range } from "../../ipam/range.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import { listOf, member, textOf } from "../node/json-values.ts";
import type { FoundNetwork } from "../node/networks.ts";
import type { NodeReservation } from "../node/node-reservations.ts";
import type { Finding } from "./finding.ts";

/** An address of an interface. */
export interface InterfaceAddress {
  readonly address: Address;
  readonly prefixLength: number;
}

/** The addresses of every interface of the node, by its name; link-local ones are left out. */
export type Interfaces = ReadonlyMap<string, readonly InterfaceAddress[]>;

const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** Compares every bridge with the gateways of its network. */
export function bridgeFindings(
  system: OperatorSystem,
  contents: readonly DirectoryContents[],
): readonly Finding[] {
  const pairs = contents.flatMap(({ directory, reservations }) =>
    directory.networks.flatMap((network) =>
      network.bridge === undefined ? [] : [{ network, reservations }],
    ),
  );
  if (pairs.length === 0) return [];
  const interfaces = readInterfaces(system);
  if (interfaces === undefined) {
    return [
      {
        code: "bridge-unknown",
        network: "",
        path: "",
        message: "the addresses of bridges were not compared: ip -json address does not work",
      },
    ];
  }
  return pairs.flatMap(({ network, reservations }) => compare(network, reservations, interfaces));
}

/** Reads what `ip -json address` prints. */
export function parseInterfaces(text: string): Interfaces {
  const devices = listOf(JSON.parse(text)).map((device): [string, readonly InterfaceAddress[]] => [
    textOf(member(device, "ifname")),
    listOf(member(device, "addr_info")).flatMap((entry) => {
      const address = parseAddress(textOf(member(entry, "local")));
      const prefixLength = member(entry, "prefixlen");
      if (address === undefined || typeof prefixLength !== "number") return [];
      return member(entry, "scope") === "link" ? [] : [{ address, prefixLength }];
    }),
  ]);
  return new Map(devices);
}

function readInterfaces(system: OperatorSystem): Interfaces | undefined {
  try {
    const { exitCode, stdout } = system.run(["ip", "-json", "address"], LARGEST_OUTPUT);
    return exitCode === 0 ? parseInterfaces(stdout) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
}

/** A bridge that is missing is made by the next ADD. */
function compare(
  network: FoundNetwork,
  reservations: readonly NodeReservation[],
  interfaces: Interfaces,
): readonly Finding[] {
  const { bridge, rangeSets, location, source = "" } = network;
  const addresses = bridge === undefined ? undefined : interfaces.get(bridge.name);
  if (bridge === undefined || addresses === undefined) return [];
  const ranges = rangeSets.flatMap((set) => [...set]);
  const problems = ([4, 6] as const).flatMap((family) =>
    problemOf(
      family,
      addresses.filter(({ address }) => address.family === family),
      ranges.filter((range) => range.family === family),
      reservations,
    ),
  );
  const forced = bridge.isForced ? "; forceAddress is set, so the next ADD changes it" : "";
  return problems.map((problem) => ({
    code: "bridge-address",
    network: location.network,
    path: source,
    message: `${bridge.name} ${problem}${forced}`,
  }));
}

/**
 * The plugin `bridge` refuses an ADD where the bridge has another IPv4 address, or another IPv6 address of the same
 * network. One that has none is given it by the next ADD, but leaves the pods of today without a gateway.
 */
function problemOf(
  family: Family,
  addresses: readonly InterfaceAddress[],
  ranges: readonly Range[],
  reservations: readonly NodeReservation[],
): readonly string[] {
  const [range] = ranges;
  if (range === undefined || ranges.some((one) => addresses.some((has) => isGatewayOf(has, one)))) {
    return [];
  }
  const expected = [...new Set(ranges.map(formatGateway))].join(" or ");
  const inTheWay = addresses.filter(
    ({ address }) => family === 4 || ranges.some((one) => isWithin(address, networkOf(one))),
  );
  if (inTheWay.length > 0) {
    const found = inTheWay.map(
      ({ address, prefixLength }) => `${formatAddress(address)}/${prefixLength}`,
    );
    return [`has ${found.join(", ")}; expected the gateway ${expected}`];
  }
  const isUsed = reservations.some(({ address }) => ranges.some((one) => isWithin(address, one)));
  return isUsed ? [`has no address of the network; expected the gateway ${expected}`] : [];
}

function isGatewayOf({ address, prefixLength }: InterfaceAddress, range: Range): boolean {
  return isSame(address, range.gateway) && prefixLength === range.prefixLength;
}

function formatGateway({ gateway, prefixLength }: Range): string {
  return `${formatAddress(gateway)}/${prefixLength}`;
}

function networkOf({ first, prefixLength }: Range) {
  return addressRangeOf({ address: first, length: prefixLength, mapped: false });
}
