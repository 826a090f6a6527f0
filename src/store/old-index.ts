/** What versions before the journal kept in the state directory: symbolic links, removed when they are met. */

import { isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";

/** Removes the index of owners, and its stamp. */
export function removeOldIndex(system: System, { stateDirectory }: Location): void {
  const owners = join(stateDirectory, "owners");
  try {
    for (const name of system.list(owners)) system.unlink(join(owners, name));
    system.removeDirectory(owners);
    system.unlink(join(stateDirectory, "stamp"));
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR")) throw error;
  }
}
