/** Our own directory below the data directory: not to be used where it might lead elsewhere. */

import { isSystemError, type System } from "../system/system.ts";
import { type Location, parentOf } from "./location.ts";

/**
 * The location as it may be used: without our own directory where something else than a directory stands in place of it
 * or of a part. Behind a symbolic link, things would be made and removed outside the data directory.
 */
export function withSafeStateDirectory(system: System, location: Location): Location {
  const { stateDirectory, owners, temporaryDirectory } = location;
  const parts = [parentOf(stateDirectory), stateDirectory, owners, temporaryDirectory];
  const isSound = parts.every((path) => isSoundDirectory(system, path));
  return isSound ? location : { ...location, usesStateDirectory: false };
}

/** A missing one is made by whoever needs it. */
function isSoundDirectory(system: System, path: string): boolean {
  try {
    return system.linkStatus(path).kind === "directory";
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === "ENOENT";
  }
}
