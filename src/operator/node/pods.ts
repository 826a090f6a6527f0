/** The pods that hold reservations, according to libcni's cache. */

import type { Context } from "../../cli/command/command.ts";
import { isSystemError } from "../../system/system.ts";
import { containerOf, interfaceOf, type NodeReservation } from "./node-reservations.ts";
import { type CachedAttachment, cacheDirOf, readResultsCache } from "./results-cache.ts";

/** The contents of the cache. */
export interface Pods {
  readonly attachments: readonly CachedAttachment[];
  /** `namespace/name` of the pod that holds a reservation; empty if it is not known. */
  readonly of: (reservation: NodeReservation) => string;
}

/** Reads the cache. If that fails, it logs the error, and no pods are known. */
export function readPods(context: Context): Pods {
  const attachments = cachedAttachments(context);
  const pods = new Map<string, string>();
  for (const { network, containerId, interfaceName, pod } of attachments) {
    if (pod === "") continue;
    pods.set(keyOf(network, containerId, interfaceName), pod);
    // A legacy reservation names no interface.
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
    context.log(`pods are unknown: ${error.message}`);
    return [];
  }
}

function keyOf(network: string, containerId: string, interfaceName: string): string {
  return `${network} ${containerId} ${interfaceName}`;
}
