/** Files that are written first and get their name afterwards, so that nobody ever sees them half. */

import { isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";

/** Left-over files of killed calls are removed once they are this old, in milliseconds. */
const ABANDONED_AFTER = 60_000;

/** How temporary files in the network's own directory begin; no address and no cursor does. */
const PREFIX = ".host-local-";

/**
 * Writes `content` to a temporary file and lets `place` give it its real name by `link(2)` or `rename(2)`. The file
 * lies in our own directory or, where that is on another file system or takes no file, beside its goal.
 *
 * @returns what `place` returns
 */
export function withTemporary<T>(
  system: System,
  location: Location,
  content: string,
  place: (path: string) => T,
): T {
  const own = location.usesStateDirectory ? writeOwn(system, location, content) : undefined;
  try {
    if (own !== undefined) return placeFrom(system, own, place);
  } catch (error) {
    if (!isSystemError(error, "EXDEV")) throw error;
  }
  return placeFrom(system, write(system, location.directory, PREFIX, content), place);
}

/** Writes it into our own directory; `undefined` where that is not possible. */
function writeOwn(
  system: System,
  { temporaryDirectory }: Location,
  content: string,
): string | undefined {
  try {
    return write(system, temporaryDirectory, "", content);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/** Removes what killed calls left behind. */
export function sweepTemporary(system: System, location: Location): void {
  if (location.usesStateDirectory) sweep(system, location.temporaryDirectory, "");
}

/** As `sweepTemporary`, and looks into the network's directory, too, which may be large. */
export function sweepAllTemporary(system: System, location: Location): void {
  sweepTemporary(system, location);
  sweep(system, location.directory, PREFIX);
}

/** The paths of what killed calls left behind, which `sweepAllTemporary` would remove. */
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

/** Whether a name in the network's own directory is that of a temporary file. */
export function isTemporaryName(name: string): boolean {
  return isOurs(name, PREFIX);
}

function placeFrom<T>(system: System, path: string, place: (path: string) => T): T {
  try {
    return place(path);
  } finally {
    removeQuietly(system, path);
  }
}

function write(system: System, directory: string, prefix: string, content: string): string {
  for (let attempt = 0; ; attempt++) {
    const path = join(directory, `${prefix}${system.processId()}.${attempt}`);
    try {
      system.createFile(path, content, 0o600);
      return path;
    } catch (error) {
      // A missing directory is made; a file of that name is from a killed process that had our id.
      if (isSystemError(error, "ENOENT")) system.makeDirectories(directory);
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
    .filter((name) => isOurs(name, prefix))
    .map((name) => join(directory, name))
    .filter((path) => modified(system, path) < oldest);
}

function isOurs(name: string, prefix: string): boolean {
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

/** A temporary file that stays is swept later; whatever was to be done is done. */
function removeQuietly(system: System, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
