/** The network namespaces that a runtime has mounted, and their addresses. */

import { readdirSync } from "node:fs";
import { NetworkNamespace } from "../e2e/network-namespace.ts";

const directory = "/run/netns";

/** The names of those whose eth0 has an address, such as `10.64.0.2`. */
export function namespacesWith(address: string): readonly string[] {
  return [...addressesByName()].filter(([, all]) => all.includes(address)).map(([name]) => name);
}

/** The addresses that two of them have. */
export function addressesInTwo(): readonly string[] {
  const all = [...addressesByName().values()].flat();
  return all.filter((address, at) => all.indexOf(address) !== at);
}

function addressesByName(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    readdirSync(directory).map((name) => {
      const addresses = new NetworkNamespace(`${directory}/${name}`).addresses();
      return [name, addresses.map((address) => address.replace(/\/.*/, ""))];
    }),
  );
}
