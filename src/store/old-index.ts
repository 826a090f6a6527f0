/** What versions before the journal kept in the state directory: symbolic links, removed when they are met. */

import { type FileKind, isSystemError, type System } from "../system/system.ts";
import { join, type Location, parentOf } from "./files/paths.ts";

/**
 * Removes the index of owners, and its stamp. Files and directories are not of it, and stay; a link in place of the
 * directory is not followed. From then on, others cannot read the state directory.
 */
export function removeOldIndex(system: System, { stateDirectory }: Location): void {
  const owners = join(stateDirectory, "owners");
  if (kindAt(system, owners) !== "directory") return;
  for (const path of [parentOf(stateDirectory), stateDirectory]) system.changeMode(path, 0o700);
  for (const path of [
    join(stateDirectory, "stamp"),
    ...system.list(owners).map((name) => join(owners, name)),
  ]) {
    if (kindAt(system, path) === "other") system.unlink(path);
  }
  try {
    system.removeDirectory(owners);
  } catch (error) {
    if (!isSystemError(error, "ENOTEMPTY", "EEXIST")) throw error;
  }
}

function kindAt(system: System, path: string): FileKind | undefined {
  try {
    return system.linkStatus(path).kind;
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    return undefined;
  }
}
