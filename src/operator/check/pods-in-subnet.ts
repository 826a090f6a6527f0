/** The pods that have an address of a subnet, and a gateway there. */

import { plural } from "../../cli/output/plural.ts";
import {
  type Address,
  type AddressRange,
  isSame,
  isWithin,
  parseAddress,
} from "../../ipam/address.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { Node } from "../node.ts";
import { podOrContainer, podOrHolder } from "./holder.ts";

/** How many pods a message names. */
const MAX_NAMED = 10;

/** Some pods. */
export interface PodsInSubnet {
  /** Otherwise it is not known of any of them whether they live. */
  readonly areLiving: boolean;
  /** How many, and their names with their addresses, such as `1 living pod: default/web (10.88.0.7)`. */
  readonly text: string;
}

/** Which pods are meant. */
interface Meant {
  readonly subnet: AddressRange;
  /** Pods with these addresses are left out. */
  readonly but?: AddressRange | undefined;
  /** The gateway of the pods: one is left out of which libcni's cache knows another. */
  readonly gateway: Address;
  /** The only network whose pods are meant; by default any. */
  readonly of?: FoundNetwork;
}

/**
 * Finds the living pods that hold an address of a subnet, or have one without a reservation; where there are none, those that may
 * live.
 *
 * @returns `undefined` where all are dead
 */
export function podsInSubnet(
  node: Node,
  { subnet, but, gateway, of }: Meant,
): PodsInSubnet | undefined {
  const { cache, liveness } = node;
  const isMeant = (address: Address): boolean =>
    isWithin(address, subnet) && !(but !== undefined && isWithin(address, but));
  const living = new Map<string, string>();
  const unknown = new Map<string, string>();
  for (const reservation of node.reservations()) {
    const { network, address, text } = reservation;
    if (!isMeant(address) || (of && network.files.directory !== of.files.directory)) continue;
    if (cache.knownOf(reservation).attachments.some((one) => hasOther(one, gateway))) continue;
    const result = liveness.livenessOf(reservation);
    if (result.liveness === "dead") continue;
    const pods = result.liveness === "alive" ? living : unknown;
    pods.set(text, `${podOrHolder({ cache }, reservation)} (${text})`);
  }
  for (const attachment of liveness.whose.known().attachments) {
    if (of && attachment.network !== of.files.network) continue;
    for (const text of attachment.addresses) {
      const address = parseAddress(text);
      if (address === undefined || !isMeant(address) || living.has(text)) continue;
      if (hasOther(attachment, gateway)) continue;
      if (liveness.livenessOfAttachment(attachment).liveness !== "alive") continue;
      living.set(text, `${podOrContainer(attachment)} (${text})`);
    }
  }
  if (living.size > 0) {
    const text = `${plural(living.size, "living pod")}: ${namedPods([...living.values()])}`;
    return { areLiving: true, text };
  }
  if (unknown.size === 0) return undefined;
  const names = namedPods([...unknown.values()]);
  const text = `${plural(unknown.size, "pod")}, of which it is not known whether they live: ${names}`;
  return { areLiving: false, text };
}

/** Whether an attachment has another gateway of this family. */
function hasOther({ gateways }: CachedAttachment, gateway: Address): boolean {
  const own = gateways
    .flatMap((text) => parseAddress(text) ?? [])
    .filter(({ family }) => family === gateway.family);
  return own.length > 0 && !own.some((one) => isSame(one, gateway));
}

/** The number of pods, and the names of the first of them. */
export function namedPods(pods: readonly string[]): string {
  const more = pods.length > MAX_NAMED ? ` and ${pods.length - MAX_NAMED} more` : "";
  return `${pods.slice(0, MAX_NAMED).join(", ")}${more}`;
}
