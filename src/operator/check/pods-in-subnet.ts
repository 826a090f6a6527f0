/** The pods that have an address of a subnet, and so lose what is taken from it. */

import { type AddressRange, formatAddress, isWithin, parseAddress } from "../../ipam/address.ts";
import type { Node } from "../node/node.ts";
import { containerOf } from "../node/node-reservations.ts";

/** How many pods a message names. */
const MAX_NAMED = 10;

/** Pods with their addresses, such as `default/web (10.88.0.7)`. */
export interface PodsInSubnet {
  readonly living: readonly string[];
  /** Those of which it is not known whether they live. */
  readonly unknown: readonly string[];
}

/** Finds the pods that hold an address of a subnet in any network, or have one without a reservation, unless they are dead. */
export function podsInSubnet(
  { directories, cache, liveness }: Node,
  subnet: AddressRange,
): PodsInSubnet {
  const living = new Map<string, string>();
  const unknown = new Map<string, string>();
  for (const reservation of directories.flatMap(({ reservations }) => reservations)) {
    const { address, owner } = reservation;
    if (!isWithin(address, subnet)) continue;
    const result = liveness.livenessOf(reservation);
    if (result.liveness === "dead") continue;
    const holder = cache.podOf(reservation) || containerOf(owner) || "no container";
    const pods = result.liveness === "alive" ? living : unknown;
    pods.set(formatAddress(address), holder);
  }
  for (const attachment of cache.attachments) {
    for (const text of attachment.addresses) {
      const address = parseAddress(text);
      if (address === undefined || !isWithin(address, subnet) || living.has(text)) continue;
      if (liveness.livenessOfAttachment(attachment).liveness !== "alive") continue;
      living.set(text, attachment.pod || attachment.containerId);
      unknown.delete(text);
    }
  }
  return { living: described(living), unknown: described(unknown) };
}

function described(pods: ReadonlyMap<string, string>): readonly string[] {
  return [...pods].map(([address, holder]) => `${holder} (${address})`);
}

/** The number of pods, and the names of the first of them. */
export function namedPods(pods: readonly string[]): string {
  const more = pods.length > MAX_NAMED ? ` and ${pods.length - MAX_NAMED} more` : "";
  return `${pods.slice(0, MAX_NAMED).join(", ")}${more}`;
}
