/** The lock of a network: `flock(2)` where Node.js and the file system offer it, otherwise a directory. */

import { attempt, type System } from "../system.ts";
import { type CLibrary, cLibrary } from "./c-library.ts";
import { lockDirectory } from "./directory-lock.ts";
import { lockFile } from "./lock-file.ts";

/**
 * The lock, as part of a system. Where the file system refuses `flock(2)`, the Go plugin continues without a lock: nothing
 * can exclude it.
 *
 * @param system the file calls that the lock needs
 * @param library the C library; by default that of this process
 */
export function createLock(
  system: Pick<System, "status" | "readFile" | "isLocal" | "makeDirectories">,
  library: () => CLibrary | undefined = cLibrary,
): Pick<System, "lock"> {
  return {
    lock: (request) => {
      const found = library();
      const release = found && lockFile(found, system, request);
      if (release === undefined) {
        return { release: lockDirectory(request, system.makeDirectories), excludesGoPlugin: false };
      }
      return { release, excludesGoPlugin: attempt(() => system.isLocal(request.file), false) };
    },
  };
}
