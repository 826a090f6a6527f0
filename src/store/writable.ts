/** Whether reservations could be made at all. */

import { type FileKind, isSystemError, type System, SystemError } from "../system/system.ts";
import { type Location, parentOf } from "./location.ts";

/**
 * Throws where no file can be created in the network's directory or, while that is missing, where it cannot be made in
 * the nearest directory above it. Creates nothing.
 *
 * @throws SystemError
 */
export function requireWritableStore(system: System, { directory }: Location): void {
  let path = directory;
  let kind = kindAt(system, path);
  while (kind === undefined && path !== parentOf(path)) {
    path = parentOf(path);
    kind = kindAt(system, path);
  }
  if (kind !== undefined && kind !== "directory") throw new SystemError("mkdir", path, "ENOTDIR");
  system.requireWritable(path);
}

/** What a path leads to, a link to nothing being `other`; `undefined` where nothing stands there. */
function kindAt(system: System, path: string): FileKind | undefined {
  try {
    return system.status(path).kind;
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    return isThere(system, path) ? "other" : undefined;
  }
}

function isThere(system: System, path: string): boolean {
  try {
    system.linkStatus(path);
    return true;
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    return false;
  }
}
