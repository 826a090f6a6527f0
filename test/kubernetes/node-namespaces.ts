/** The network namespaces of pods, looked at on the node. */

import { existsSync, readdirSync } from "node:fs";
import { NetworkNamespace } from "../e2e/network-namespace.ts";

const directory = "/run/netns";

/** One of them, and the address in it. */
export interface NodeNamespace {
  readonly namespace: NetworkNamespace;
  /** Without prefix length; undefined before the plugin has put it there, and after it has taken it away. */
  readonly address: string | undefined;
}

/** All that there are. Those that end meanwhile are left out. */
export function nodeNamespaces(): readonly NodeNamespace[] {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names.flatMap((name) => {
    const namespace = new NetworkNamespace(`${directory}/${name}`);
    try {
      return [{ namespace, address: namespace.addresses()[0]?.split("/")[0] }];
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
  const found = nodeNamespaces().find((one) => one.address === address);
  if (found === undefined) throw new Error(`No network namespace has ${address}.`);
  return found.namespace;
}
