/** The pods that have an address of a subnet, and a gateway there. */

import { plural } from "../../cli/output/plural.ts";
import {
  type Address,
  type AddressRange,
  isSame,
  isWithin,
  parseAddress,
} from "../../ipam/address.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { Node } from "../node.ts";

/** How many pods a message names. */
const MAX_NAMED = 10;

/** Some pods. */
export interface PodsInSubnet {
  /** Otherwise it is not known of any of them whether they live. */
  readonly areLiving: boolean;
  /** How many, and their names with their addresses, such as `1 living pod: default/web (10.88.0.7)`. */
  readonly text: string;
}

/**
 * Finds the living pods that hold an address of a subnet in any network, or have one without a reservation; where there are
 * none, those that may live.
 *
 * @param gateway theirs; a pod is left out of which libcni's cache knows another one
 * @param reached pods with these addresses are left out
 * @returns `undefined` where all are dead
 */
export function podsInSubnet(
  { reservations, cache, liveness }: Node,
  subnet: AddressRange,
  gateway: Address,
  reached?: AddressRange,
): PodsInSubnet | undefined {
  const isMeant = (address: Address): boolean =>
    isWithin(address, subnet) && !(reached !== undefined && isWithin(address, reached));
  const living = new Map<string, string>();
  const unknown = new Map<string, string>();
  for (const reservation of reservations) {
    const { address, owner, text } = reservation;
    if (!isMeant(address)) continue;
    if (cache.attachmentsOf(reservation).some((one) => hasOther(one, gateway))) continue;
    const result = liveness.livenessOf(reservation);
    if (result.liveness === "dead") continue;
    const holder = cache.podOf(reservation) || containerOf(owner) || "no container";
    const pods = result.liveness === "alive" ? living : unknown;
    pods.set(text, `${holder} (${text})`);
  }
  for (const attachment of cache.attachments) {
    for (const text of attachment.addresses) {
      const address = parseAddress(text);
      if (address === undefined || !isMeant(address) || living.has(text)) continue;
      if (hasOther(attachment, gateway)) continue;
      if (liveness.livenessOfAttachment(attachment).liveness !== "alive") continue;
      living.set(text, `${attachment.pod || attachment.containerId} (${text})`);
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
