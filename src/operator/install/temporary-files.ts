/** Temporary files in a plugin directory, named after the process that made them. */

import { join } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists, isSystemError, type System } from "../../system/system.ts";
import { namesIn, PLUGIN } from "../node/plugin-directories.ts";

/** What temporary files need of the operating system. */
type FileSystem = System & Pick<OperatorSystem, "removeDirectory">;

/** What a temporary file is: a new executable, a further link to an old one, or a directory to run one from. */
type Purpose = "new" | "kept" | "probe";

/**
 * Of a process with the number of a killed one, temporary files are removed only when they are this old, in
 * milliseconds.
 */
const ABANDONED_AFTER = 600_000;

/** The path of a temporary file of this process. */
export function temporaryPath(system: FileSystem, directory: string, purpose: Purpose): string {
  return join(directory, `.${PLUGIN}.${system.processId()}.${purpose}`);
}

/**
 * Makes a directory, lets `use` put files into it and remove them, and removes it.
 *
 * @throws SystemError
 */
export function withTemporaryDirectory<T>(
  system: FileSystem,
  directory: string,
  use: (path: string) => T,
): T {
  const path = temporaryPath(system, directory, "probe");
  system.makeDirectories(path);
  try {
    return use(path);
  } finally {
    removeDirectoryQuietly(system, path);
  }
}

/**
 * Removes what killed installations left in a directory. Temporary files of a process that runs are kept: it may be an
 * installation.
 *
 * @throws SystemError if the directory cannot be read
 */
export function removeAbandoned(system: FileSystem, directory: string): void {
  const oldest = BigInt(system.now() - ABANDONED_AFTER) * 1_000_000n;
  for (const name of system.list(directory)) {
    // Up to 1.0 a new executable had no suffix.
    const [, maker, purpose] = /^\.host-local\.([0-9]+)(?:\.(new|kept|probe))?$/.exec(name) ?? [];
    if (maker === undefined) continue;
    const path = join(directory, name);
    const isOfRunning = maker !== `${system.processId()}` && exists(system, `/proc/${maker}`);
    if (isOfRunning && !isOlder(system, path, oldest)) continue;
    if (purpose === "probe") {
      for (const plugin of namesIn(system, path)) unlinkQuietly(system, join(path, plugin));
      removeDirectoryQuietly(system, path);
    } else {
      unlinkQuietly(system, path);
    }
  }
}

/** A link to a plugin has the plugin's mtime, but its ctime is that of the link. */
function isOlder(system: FileSystem, path: string, time: bigint): boolean {
  try {
    return system.linkStatus(path).changed < time;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return true;
    throw error;
  }
}

/** Removes a file; one that stays is removed by a later installation. */
export function unlinkQuietly(system: FileSystem, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

function removeDirectoryQuietly(system: FileSystem, path: string): void {
  try {
    system.removeDirectory(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
