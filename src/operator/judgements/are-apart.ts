/** Whether the pods of two networks may meet, so that none may have an address of the other. */

import type { FoundNetwork } from "../configured/found-network.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";

/** Whether no pod of the one network is on a link with one of the other, so that both may have an address. */
export function areApart(first: NetworkDirectory, other: NetworkDirectory): boolean {
  return first.networks.every((network) =>
    other.networks.every((another) => areOnDifferentLinks(network, another)),
  );
}

/**
 * Whether the pods of two networks are on different links. They meet through the node, unless the networks are meant to be
 * separate, as two VLANs are.
 */
function areOnDifferentLinks(first: FoundNetwork, other: FoundNetwork): boolean {
  if (first.isRouted && other.isRouted && !(isVlan(first) && isVlan(other))) return false;
  return first.link !== undefined && other.link !== undefined && first.link !== other.link;
}

/** Whether the link is a VLAN of a bridge. */
function isVlan({ bridgeName, link }: FoundNetwork): boolean {
  return bridgeName !== undefined && link !== bridgeName;
}
