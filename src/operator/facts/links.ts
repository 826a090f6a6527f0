/** The links of the node, as the kernel shows them: interfaces with their addresses, and which is a port of which. */

import type { Address } from "../../ipam/address.ts";
import { parsePrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";

/** An address of an interface. */
export interface InterfaceAddress {
  readonly address: Address;
  readonly prefixLength: number;
}

/** An interface of this network namespace. */
export interface Link {
  readonly name: string;
  readonly index: number;
  /** The kind of the interface, such as `bridge` or `veth`; `-` where it has none, as a NIC. */
  readonly kind: string;
  readonly isUp: boolean;
  /** The index of the bridge, or other master, that it is a port of; 0 for none. */
  readonly master: number;
  /** The id, as `OperatorSystem.namespaceId` has it, of the namespace in which its other end is; -1 where it has none elsewhere. */
  readonly otherEnd: number;
  readonly addresses: readonly InterfaceAddress[];
}

/** The interfaces of this network namespace by their names, all of the same moment. */
export type Links = ReadonlyMap<string, Link>;

/** Reads the links of this network namespace; `undefined` if the kernel does not tell them here. */
export function readLinks(system: Pick<OperatorSystem, "networkLinks">): Links | undefined {
  const text = attempt(() => system.networkLinks(), undefined);
  return text === undefined ? undefined : linksIn(text);
}

/** @param text as `OperatorSystem.networkLinks` has it */
function linksIn(text: string): Links {
  const links = new Map<string, Link>();
  const addresses = new Map<string, InterfaceAddress[]>();
  for (const line of new Set(text.split("\n"))) {
    const [index = "", name = "", kind, state, master, otherEnd] = line.split(" ");
    if (kind !== undefined) {
      const own: InterfaceAddress[] = [];
      addresses.set(index, own);
      const numbers = { index: Number(index), master: Number(master), otherEnd: Number(otherEnd) };
      links.set(name, { name, kind, isUp: state === "up", ...numbers, addresses: own });
      continue;
    }
    const prefix = parsePrefix(name);
    if (prefix !== undefined) {
      addresses.get(index)?.push({ address: prefix.address, prefixLength: prefix.length });
    }
  }
  return links;
}

/** The interfaces at a bridge. */
export function portsOf(links: Links, { index }: Link): readonly Link[] {
  return [...links.values()].filter(({ master }) => master === index);
}
