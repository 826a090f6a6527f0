/** The lock of a network: `flock(2)` where Node.js and the file system offer it, otherwise a directory. */

import { attempt, type System } from "../system.ts";
import { type CLibrary, cLibrary } from "./c-library.ts";
import { lockDirectory } from "./directory-lock.ts";
import { lockFile } from "./lock-file.ts";

/**
 * The lock, as part of a system.
 *
 * @param system the file calls that the lock needs
 * @param library the C library; by default that of this process
 */
export function createLock(
  system: Pick<System, "status" | "readFile" | "isLocal" | "makeDirectories">,
  library: () => CLibrary | undefined = cLibrary,
): Pick<System, "lock" | "locksOutGoPlugin"> {
  /** Where `flock(2)` is refused, the Go plugin continues without a lock: nothing can exclude it. */
  let isRefused = false;
  let isLocal = true;
  return {
    get locksOutGoPlugin() {
      return !isRefused && isLocal && library() !== undefined;
    },
    lock: (request) => {
      const found = library();
      const unlock = found && lockFile(found, system, request);
      isRefused = found !== undefined && unlock === undefined;
      isLocal = unlock !== undefined && attempt(() => system.isLocal(request.file), false);
      return unlock ?? lockDirectory(request, system.makeDirectories);
    },
  };
}
