/** The links of the node, as the kernel shows them: interfaces with their addresses, and bridges with their ports. */

import type { Address } from "../../ipam/address.ts";
import { parsePrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";
import type { FoundNetwork } from "../configured/found-network.ts";

/** An address of an interface. */
export interface InterfaceAddress {
  readonly address: Address;
  readonly prefixLength: number;
}

/** The addresses of the interfaces of this network namespace, by the name of the interface, in the order of the kernel. */
export type Interfaces = ReadonlyMap<string, readonly InterfaceAddress[]>;

/** What is seen of links, all of the same moment. */
export interface Links {
  /** `undefined` if the kernel does not tell them here. */
  readonly interfaces: Interfaces | undefined;
  /** The interfaces at the bridges of networks, by the name of the bridge; it has no entry where they are not seen. */
  readonly ports: ReadonlyMap<string, readonly string[]>;
  /** The names that networks have for a bridge, and that another interface has, as a NIC: `bridgeByName` in bridge.go then fails. */
  readonly otherInterfaces: ReadonlySet<string>;
}

/** Reads the links of this network namespace, and those that networks name. */
export function readLinks(system: OperatorSystem, networks: readonly FoundNetwork[]): Links {
  const bridges = new Set(networks.flatMap(({ bridge }) => bridge?.name ?? []));
  const names = new Set(networks.flatMap(({ bridgeName }) => bridgeName ?? []));
  const isOther = (name: string): boolean => attempt(() => isOtherInterface(system, name), false);
  return {
    interfaces: attempt(() => interfacesFrom(system.listInterfaces()), undefined),
    ports: new Map([...bridges].flatMap((name) => portsOf(system, name))),
    otherInterfaces: new Set([...names].filter(isOther)),
  };
}

/** @throws SystemError where there is no interface of this name, or `/sys` does not tell */
function isOtherInterface(system: OperatorSystem, name: string): boolean {
  const path = `/sys/class/net/${name}`;
  system.status(path);
  return attempt(() => system.status(`${path}/bridge`), undefined, "ENOENT") === undefined;
}

function portsOf(
  system: OperatorSystem,
  name: string,
): readonly (readonly [string, readonly string[]])[] {
  const list = () => [[name, system.list(`/sys/class/net/${name}/brif`)] as const];
  return attempt(list, []);
}

/** @param lines as `OperatorSystem.listInterfaces` has them */
function interfacesFrom(lines: readonly string[]): Interfaces {
  const interfaces = new Map<string, InterfaceAddress[]>();
  for (const line of lines) {
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
