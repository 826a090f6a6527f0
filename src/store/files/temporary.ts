/** Files that are written first and named afterwards, so that no process sees them half written. */

import { attempt, isSystemError, type System } from "../../system/system.ts";

/** The age at which a temporary file is taken for one of a killed call, in milliseconds. */
const ABANDONED_AFTER = 60_000;

/** Where temporary files are made. */
export interface TemporaryPlace {
  readonly directory: string;
  /** The mode of the directory, where it is missing. */
  readonly mode: number;
  /** What the names begin with. */
  readonly prefix: string;
}

/**
 * Writes `content` to a temporary file and lets `name` give it a name by `link(2)` or `rename(2)`.
 *
 * @returns what `name` returns
 * @throws SystemError
 */
export function withTemporaryIn<T>(
  system: System,
  place: TemporaryPlace,
  content: string,
  name: (path: string) => T,
): T {
  return nameAndRemove(system, createTemporary(system, place, content), name);
}

/** Lets `name` give a temporary file a name, and removes it under the one that it had. */
export function nameAndRemove<T>(system: System, path: string, name: (path: string) => T): T {
  try {
    return name(path);
  } finally {
    removeQuietly(system, path);
  }
}

/**
 * Writes a temporary file.
 *
 * @returns its path
 * @throws SystemError
 */
export function createTemporary(
  system: System,
  { directory, mode, prefix }: TemporaryPlace,
  content: string,
): string {
  for (let tries = 0; ; tries++) {
    const path = `${directory}/${prefix}${system.processId()}-${tries}`;
    try {
      system.createFile(path, content, 0o600);
      return path;
    } catch (error) {
      // A missing directory is made; an existing file is from a killed process with the same process id.
      if (isSystemError(error, "ENOENT")) system.makeDirectories(directory, mode);
      else if (!isSystemError(error, "EEXIST")) throw error;
      if (tries > 100) throw error;
    }
  }
}

/** The paths of the temporary files of killed calls. */
export function abandonedIn(
  system: System,
  { directory, prefix }: TemporaryPlace,
): readonly string[] {
  const oldest = BigInt(system.now() - ABANDONED_AFTER) * 1_000_000n;
  return attempt(() => system.list(directory), [])
    .filter((name) => isTemporaryName(name, prefix))
    .map((name) => `${directory}/${name}`)
    .filter((path) => attempt(() => system.status(path).modified < oldest, false));
}

/** Whether a name has the form of a temporary file's. */
function isTemporaryName(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /^[0-9]+-[0-9]+$/.test(name.slice(prefix.length));
}

/** Removes a file; one that stays is removed as an abandoned one later. */
export function removeQuietly(system: System, path: string): void {
  attempt(() => system.unlink(path), undefined);
}
