/** The calls of the plugin that failed, or gave their address back at once, since the node started. */

import type { CallRecord } from "../../store/failed-calls/failed-call.ts";
import { readFailedCalls, runtimeDirectory } from "../../store/failed-calls/failed-calls-file.ts";
import { seesHostProcesses } from "../../store/namespaces/sight.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists, isSystemError } from "../../system/system.ts";
import { hasRootOfNode } from "./outlook.ts";

/** What is seen of these calls: what cannot be read is not the same as none. */
export type KeptCalls =
  /** Oldest first. */
  | { readonly kind: "seen"; readonly records: readonly CallRecord[] }
  | { readonly kind: "unseen"; readonly reason: string };

/**
 * Reads these calls. What is dated ahead of the clock, which was set back since, is left out: a call that still fails is kept
 * again within seconds.
 */
export function readKeptCalls(system: OperatorSystem): KeptCalls {
  const directory = runtimeDirectory(system);
  try {
    const records = readFailedCalls(system);
    if (!exists(system, directory) && !hasRunOfNode(system)) {
      return { kind: "unseen", reason: `there is no ${directory} in this container` };
    }
    const now = system.now();
    return { kind: "seen", records: records.filter(({ time }) => time <= now) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { kind: "unseen", reason: error.message };
  }
}

/** What the first process of a machine makes, also of one that is a container, see sd_booted(3). */
const BOOTED = "/run/systemd/system";

/** Whether `/run` is that of the node: a container without the node's processes has one of its own, and a first process, too. */
function hasRunOfNode(system: OperatorSystem): boolean {
  return hasRootOfNode(system) && (seesHostProcesses(system) || exists(system, BOOTED));
}
