/** Findings on bridges without the gateway's address: pods have no route, and the next ADD may fail. */

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

/** The addresses of the node's interfaces, by interface name, without link-local ones. */
export type Interfaces = ReadonlyMap<string, readonly InterfaceAddress[]>;

/** The largest output of `ip`, in bytes. */
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** Checks that every bridge has the gateway's address of its network. */
export function bridgeFindings(
  system: OperatorSystem,
  directories: readonly DirectoryContents[],
): readonly Finding[] {
  const pairs = directories.flatMap(({ directory, reservations }) =>
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
        message: "the addresses of bridges were not checked: ip -json address failed",
      },
    ];
  }
  return pairs.flatMap(({ network, reservations }) =>
    checkBridge(network, reservations, interfaces),
  );
}

/** Parses the output of `ip -json address`. */
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

/** A missing bridge is fine: the next ADD creates it. */
function checkBridge(
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
  const forced = bridge.isForced ? "; forceAddress is set, so the next ADD replaces it" : "";
  return problems.map((problem) => ({
    code: "bridge-address",
    network: location.network,
    path: source,
    message: `${bridge.name} ${problem}${forced}`,
  }));
}

/**
 * The plugin `bridge` fails an ADD if the bridge has another IPv4 address, or another IPv6 address of the same subnet. A
 * bridge without an address gets it with the next ADD, but present pods have no gateway.
 */
function problemOf(
  family: Family,
  addresses: readonly InterfaceAddress[],
  ranges: readonly Range[],
  reservations: readonly NodeReservation[],
): readonly string[] {
  const [range] = ranges;
  if (
    range === undefined ||
    ranges.some((one) => addresses.some((address) => isGatewayOf(address, one)))
  ) {
    return [];
  }
  const expected = [...new Set(ranges.map(formatGateway))].join(" or ");
  const conflicting = addresses.filter(
    ({ address }) => family === 4 || ranges.some((one) => isWithin(address, subnetWindow(one))),
  );
  if (conflicting.length > 0) {
    const found = conflicting.map(
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

function subnetWindow({ first, prefixLength }: Range) {
  return addressRangeOf({ address: first, length: prefixLength, mapped: false });
}
