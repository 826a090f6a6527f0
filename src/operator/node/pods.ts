/** Which pod is behind a reservation, as far as libcni's cache knows. */

import { isSystemError } from "../../system/system.ts";
import type { Context } from "../command/command.ts";
import { containerOf, interfaceOf, type NodeReservation } from "./node-reservations.ts";
import { type CachedAttachment, cacheDirOf, readResultsCache } from "./results-cache.ts";

/** What the cache tells. */
export interface Pods {
  readonly attachments: readonly CachedAttachment[];
  /** `namespace/name` of the pod that holds a reservation; empty where it is not known. */
  readonly of: (reservation: NodeReservation) => string;
}

/** Reads the cache. Where this process may not, nothing is known, and that is said. */
export function knownPods(context: Context): Pods {
  const attachments = cachedAttachments(context);
  const pods = new Map<string, string>();
  for (const { network, containerId, interfaceName, pod } of attachments) {
    if (pod === "") continue;
    pods.set(keyOf(network, containerId, interfaceName), pod);
    // A legacy reservation does not say which interface.
    pods.set(keyOf(network, containerId, ""), pod);
  }
  return {
    attachments,
    of: ({ network, owner }) =>
      pods.get(keyOf(network.location.network, containerOf(owner), interfaceOf(owner))) ?? "",
  };
}

function cachedAttachments(context: Context): readonly CachedAttachment[] {
  try {
    return readResultsCache(context.system, cacheDirOf(context));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    context.log(`host-local: pods are not known: ${error.message}\n`);
    return [];
  }
}

function keyOf(network: string, containerId: string, interfaceName: string): string {
  return `${network} ${containerId} ${interfaceName}`;
}
