/** `System` on the C host of the native executable. */

import { flockTimeout } from "../flock-holder.ts";
import { isLocalType } from "../local-file-systems.ts";
import { attempt, isSystemError, makeDirectoriesBy, type System, SystemError } from "../system.ts";

/** `System`, and the exit of the process. */
export interface QuickJsSystem extends System {
  exit(code: number): void;
}

/** Built-ins that calls use, with most of their functions. */
const builtIns = [Array, BigInt, Error, JSON, Map, Number, Object, RegExp, Set, String];

/** Has the engine make the functions of built-ins: it makes each when it is first looked at, without this in every call. */
export function makeBuiltIns(): void {
  for (const builtIn of builtIns) {
    Object.getOwnPropertyDescriptors(builtIn);
    if ("prototype" in builtIn) Object.getOwnPropertyDescriptors(builtIn.prototype);
  }
}

/** The system of the plugin; host.c has set up the process. */
export function createQuickJsSystem(): QuickJsSystem {
  host.SystemError = SystemError;
  return {
    ...host,
    makeDirectories: (path, mode = 0o755) => {
      const make = (directory: string): void => host.makeDirectory(directory, mode);
      makeDirectoriesBy({ make, status: host.status }, path);
    },
    isLocal,
    requireWritable: (path) => {
      host.requireAccess(path);
      const isFull = attempt(() => isLocal(path) && host.isFull(path), false);
      if (isFull) throw new SystemError("access", path, "ENOSPC");
    },
    requireOpenable: (path, use) => host.requireOpenable(path, use === "write"),
    namespaceLives: ({ id, inode }) => host.opensNamespace(id, inode),
    lock: ({ file, timeout }) => {
      const release = lock(file, timeout);
      return { release, excludesGoPlugin: attempt(() => isLocal(file), false) };
    },
  };
}

function isLocal(path: string): boolean {
  return isLocalType(host.fileSystemType(path));
}

/** Takes `flock(2)` on the Go plugin's own lock file. */
function lock(path: string, timeout: number): () => void {
  try {
    const descriptor = host.flock(path, timeout);
    return () => host.unlock(descriptor);
  } catch (error) {
    if (isSystemError(error, "EAGAIN")) throw flockTimeout(host, path);
    throw error;
  }
}
