/** Small files of lines in the state directory, each replaced as a whole. */

import { isSystemError, type System } from "../../system/system.ts";
import { join, type Location } from "./paths.ts";
import { withStateTemporary } from "./temporary.ts";

/** No such file is larger, in bytes. */
const LARGEST = 64 * 1024 * 1024;

/** The lines of a file; none where it is missing or cannot be read. */
export function readStateLines(
  system: System,
  location: Location,
  name: string,
): readonly string[] {
  try {
    return requireStateLines(system, location, name);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/**
 * As `readStateLines`, where a file that cannot be read matters; a missing one has no lines.
 *
 * @throws SystemError
 */
export function requireStateLines(
  system: System,
  location: Location,
  name: string,
): readonly string[] {
  if (!location.usesStateDirectory) return [];
  try {
    return system.readFile(join(location.stateDirectory, name), LARGEST).split("\n");
  } catch (error) {
    if (isSystemError(error, "ENOENT", "EFBIG", "EISDIR", "ELOOP")) return [];
    throw error;
  }
}

/**
 * Replaces a file atomically; without lines it is removed.
 *
 * @throws SystemError
 */
export function writeStateLines(
  system: System,
  location: Location,
  name: string,
  lines: readonly string[],
): void {
  const path = join(location.stateDirectory, name);
  if (lines.length === 0) removeIfPresent(system, path);
  else {
    const text = `${lines.join("\n")}\n`;
    withStateTemporary(system, location, text, (temporary) => system.rename(temporary, path));
  }
}

/**
 * Removes a file that may be missing.
 *
 * @throws SystemError
 */
function removeIfPresent(system: System, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR")) throw error;
  }
}
