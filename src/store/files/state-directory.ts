/** The state directory `.host-local/<network>`, which is used only where it cannot lead out of the data directory. */

import { isSystemError, type System } from "../../system/system.ts";
import { type Location, parentOf } from "./paths.ts";

/**
 * The location, without its state directory where that or a directory in its path is not a directory: behind a symbolic
 * link, files would be made and removed outside the data directory.
 */
export function withSafeStateDirectory(system: System, location: Location): Location {
  const { stateDirectory, temporaryDirectory } = location;
  const parts = [parentOf(stateDirectory), stateDirectory, temporaryDirectory];
  const isSafe = parts.every((path) => isSafeDirectory(system, path));
  return isSafe ? location : { ...location, usesStateDirectory: false };
}

/** A missing directory is safe: it is made when it is needed. */
function isSafeDirectory(system: System, path: string): boolean {
  try {
    return system.linkStatus(path).kind === "directory";
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === "ENOENT";
  }
}
