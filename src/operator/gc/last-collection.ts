/** When `host-local gc` last ran on a network: the modification time of an empty file, kept for `host-local metrics`. */

import type { NetworkFiles } from "../../store/files/network-files.ts";
import { attempt, exists } from "../../system/system.ts";

/** The name of the file, in the state directory. */
const FILE = "last-collection";

/**
 * Records that a collection ran now. Where that fails, the collection still succeeded: the recorded time gets old, and the
 * alert on it shows. Without the network's directory there was nothing to collect.
 */
export function recordCollection({ system, directory, state }: NetworkFiles): void {
  if (exists(system, directory)) attempt(() => state?.replace(FILE, ""), undefined);
}

/** The time of the last collection, in milliseconds since the epoch; `undefined` if none is recorded. */
export function lastCollection({ system, state }: NetworkFiles): number | undefined {
  const status = state && attempt(() => system.linkStatus(state.pathOf(FILE)), undefined);
  return status?.kind === "file" ? Number(status.modified / 1_000_000n) : undefined;
}
