/** The lock of a network: `flock(2)` where Node.js and the file system offer it, otherwise a directory. */

import fs from "node:fs";
import type { System } from "../system.ts";
import { type CLibrary, cLibrary } from "./c-library.ts";
import { lockDirectory } from "./directory-lock.ts";
import { lockFile } from "./lock-file.ts";
import { errnoOf } from "./system-call.ts";

/**
 * The numbers in statfs(2) of file systems on which others may write unseen: 9P, AFS, Ceph, CIFS (two), Coda, FUSE, NFS, SMB.
 * There `flock(2)` may exclude this machine alone, or this mount, and Node.js cannot ask for attributes that are not
 * from the kernel's memory.
 */
const SHARED = [
  0x01021997, 0x5346414f, 0x00c36400, 0xff534d42, 0xfe534d42, 0x73757245, 0x65735546, 0x6969,
  0x517b,
];

/**
 * The lock, as part of a system.
 *
 * @param system the file calls that the lock needs
 * @param library the C library; by default that of this process
 */
export function createLock(
  system: Pick<System, "status" | "readFile" | "makeDirectories">,
  library: () => CLibrary | undefined = cLibrary,
): Pick<System, "lock" | "locksOutGoPlugin"> {
  /** Where `flock(2)` is refused, the Go plugin continues without a lock: nothing can exclude it. */
  let isRefused = false;
  let isShared = false;
  return {
    get locksOutGoPlugin() {
      return !isRefused && !isShared && library() !== undefined;
    },
    lock: (request) => {
      const found = library();
      const unlock = found && lockFile(found, system, request);
      isRefused = found !== undefined && unlock === undefined;
      isShared = unlock !== undefined && isOnShared(request.file);
      return unlock ?? lockDirectory(request, system.makeDirectories);
    },
  };
}

/** Where that cannot be told, it may be. */
function isOnShared(path: string): boolean {
  try {
    return SHARED.includes(fs.statfsSync(path).type >>> 0);
  } catch (error) {
    errnoOf(error);
    return true;
  }
}
