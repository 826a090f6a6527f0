/** The addresses of the node's interfaces. */

import { parsePrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import type { InterfaceAddress } from "../configured/bridge-plugin.ts";

/** The addresses of the interfaces of this network namespace, by the name of the interface, in the order of the kernel. */
export type Interfaces = ReadonlyMap<string, readonly InterfaceAddress[]>;

/**
 * Reads the addresses of the interfaces of this network namespace.
 *
 * @throws SystemError if the kernel does not tell them here
 */
export function readInterfaces(system: OperatorSystem): Interfaces {
  const interfaces = new Map<string, InterfaceAddress[]>();
  for (const line of system.listInterfaces()) {
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
