/** The network namespaces that a runtime has mounted, seen from the node. */

import { existsSync, readdirSync } from "node:fs";
import { NetworkNamespace } from "./network-namespace.ts";

const directory = "/run/netns";

/** A namespace, and the addresses of eth0 in it, without prefix lengths. */
export interface NodeNamespace {
  readonly namespace: NetworkNamespace;
  readonly addresses: readonly string[];
}

/** All namespaces, without those that end meanwhile. */
export function nodeNamespaces(): readonly NodeNamespace[] {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names.flatMap((name) => {
    const namespace = new NetworkNamespace(`${directory}/${name}`);
    try {
      const addresses = namespace.addresses().map((address) => address.replace(/\/.*/, ""));
      return [{ namespace, addresses }];
    } catch {
      return [];
    }
  });
}

/**
 * The namespace of an address.
 *
 * @throws {Error} if there is none
 */
export function namespaceWith(address: string): NetworkNamespace {
  const found = nodeNamespaces().find(({ addresses }) => addresses.includes(address));
  if (found === undefined) throw new Error(`No network namespace has ${address}.`);
  return found.namespace;
}

/** The addresses that two namespaces have. */
export function addressesInTwo(): readonly string[] {
  const all = nodeNamespaces().flatMap(({ addresses }) => addresses);
  return all.filter((address, at) => all.indexOf(address) !== at);
}
