/** Whether the pods of two networks may meet, so that none may have an address of the other. */

import type { FoundNetwork } from "../configured/found-network.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";

/** Whether no pod of the one network is on a link with one of the other, so that both may have an address. */
export function areApart(one: NetworkDirectory, other: NetworkDirectory): boolean {
  return one.networks.every((network) =>
    other.networks.every((another) => areOnDifferentLinks(network, another)),
  );
}

/** The node has one route to an address: of two networks to which it has routes, it reaches only one. */
function areOnDifferentLinks(one: FoundNetwork, other: FoundNetwork): boolean {
  if (one.isRouted && other.isRouted) return false;
  return one.link !== undefined && other.link !== undefined && one.link !== other.link;
}
