/** Files that are written first and named afterwards, so that no process sees them half written. */

import { isSystemError, type System } from "../../system/system.ts";
import { join, type Location } from "./paths.ts";

/** The age at which a temporary file is taken for one of a killed call, in milliseconds. */
const ABANDONED_AFTER = 60_000;

/** The prefix of temporary files in the network's directory, which no address and no cursor has. */
const PREFIX = ".host-local-";

/**
 * Writes `content` to a temporary file and lets `place` name it by `link(2)` or `rename(2)`. The file is made in the state
 * directory or, where that is on another file system or not writable, in the network's directory.
 *
 * @returns what `place` returns
 */
export function withTemporary<T>(
  system: System,
  location: Location,
  content: string,
  place: (path: string) => T,
): T {
  const temporary = location.usesStateDirectory
    ? writeInStateDirectory(system, location, content)
    : undefined;
  try {
    if (temporary !== undefined) return placeFrom(system, temporary, place);
  } catch (error) {
    if (!isSystemError(error, "EXDEV")) throw error;
  }
  return placeFrom(system, write(system, location.directory, 0o755, PREFIX, content), place);
}

/**
 * As `withTemporary`, in the state directory alone: for its own files.
 *
 * @throws SystemError where that cannot be written
 */
export function withStateTemporary<T>(
  system: System,
  { temporaryDirectory }: Location,
  content: string,
  place: (path: string) => T,
): T {
  return placeFrom(system, write(system, temporaryDirectory, 0o700, "", content), place);
}

/** Writes the file in the state directory; `undefined` where that fails. */
function writeInStateDirectory(
  system: System,
  { temporaryDirectory }: Location,
  content: string,
): string | undefined {
  try {
    return write(system, temporaryDirectory, 0o700, "", content);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/** Removes the temporary files of killed calls from the state directory. */
export function sweepTemporary(system: System, location: Location): void {
  if (location.usesStateDirectory) sweep(system, location.temporaryDirectory, "");
}

/** As `sweepTemporary`, and reads the network's directory, too, which may be large. */
export function sweepAllTemporary(system: System, location: Location): void {
  sweepTemporary(system, location);
  sweep(system, location.directory, PREFIX);
}

/** The paths of the files that `sweepAllTemporary` would remove. */
export function abandonedFiles(system: System, location: Location): readonly string[] {
  return [
    ...(location.usesStateDirectory ? abandonedIn(system, location.temporaryDirectory, "") : []),
    ...abandonedIn(system, location.directory, PREFIX),
  ];
}

/** Removes one of `abandonedFiles`. */
export function removeAbandoned(system: System, path: string): void {
  removeQuietly(system, path);
}

/** Whether a name in the network's directory is that of a temporary file. */
export function isTemporaryName(name: string): boolean {
  return isTemporary(name, PREFIX);
}

function placeFrom<T>(system: System, path: string, place: (path: string) => T): T {
  try {
    return place(path);
  } finally {
    removeQuietly(system, path);
  }
}

/** @param mode that of the directory, where it is missing */
function write(
  system: System,
  directory: string,
  mode: number,
  prefix: string,
  content: string,
): string {
  for (let attempt = 0; ; attempt++) {
    const path = join(directory, `${prefix}${system.processId()}.${attempt}`);
    try {
      system.createFile(path, content, 0o600);
      return path;
    } catch (error) {
      // A missing directory is made; an existing file is from a killed process with the same process id.
      if (isSystemError(error, "ENOENT")) system.makeDirectories(directory, mode);
      else if (!isSystemError(error, "EEXIST")) throw error;
      if (attempt > 100) throw error;
    }
  }
}

function sweep(system: System, directory: string, prefix: string): void {
  for (const path of abandonedIn(system, directory, prefix)) removeQuietly(system, path);
}

function abandonedIn(system: System, directory: string, prefix: string): readonly string[] {
  let names: readonly string[];
  try {
    names = system.list(directory);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
  const oldest = BigInt(system.now() - ABANDONED_AFTER) * 1_000_000n;
  return names
    .filter((name) => isTemporary(name, prefix))
    .map((name) => join(directory, name))
    .filter((path) => modified(system, path) < oldest);
}

function isTemporary(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /^[0-9]+\.[0-9]+$/.test(name.slice(prefix.length));
}

function modified(system: System, path: string): bigint {
  try {
    return system.status(path).modified;
  } catch (error) {
    if (isSystemError(error)) return BigInt(system.now()) * 1_000_000n;
    throw error;
  }
}

/** Removes a file; one that stays is removed by a later sweep. */
function removeQuietly(system: System, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
