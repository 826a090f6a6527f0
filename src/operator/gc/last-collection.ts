/** When `host-local gc` last ran on a network: the modification time of an empty file, kept for `host-local metrics`. */

import { join, type Location } from "../../store/files/paths.ts";
import { withSafeStateDirectory } from "../../store/files/state-directory.ts";
import { withTemporary } from "../../store/files/temporary.ts";
import { exists, isSystemError, type System } from "../../system/system.ts";

/** The path of the file, in the state directory. */
export function lastCollectionPath(location: Location): string {
  return join(location.stateDirectory, "last-collection");
}

/**
 * Records that a collection ran now. Where that fails, the collection still succeeded: the recorded time gets old, and the
 * alert on it shows. Without the network's directory there was nothing to collect.
 */
export function recordCollection(system: System, location: Location): void {
  if (!exists(system, location.directory)) return;
  if (!withSafeStateDirectory(system, location).usesStateDirectory) return;
  const path = lastCollectionPath(location);
  try {
    withTemporary(system, location, "", (temporary) => system.rename(temporary, path));
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** The time of the last collection, in milliseconds since the epoch; `undefined` if none is recorded. */
export function lastCollection(system: System, location: Location): number | undefined {
  if (!withSafeStateDirectory(system, location).usesStateDirectory) return undefined;
  try {
    const { kind, modified } = system.linkStatus(lastCollectionPath(location));
    return kind === "file" ? Number(modified / 1_000_000n) : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
