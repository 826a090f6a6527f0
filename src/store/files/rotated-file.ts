/** A file of lines that is rotated once: `history` becomes `history.1`, in place of the one before. */

import { attempt, type FileStatus, type System } from "../../system/system.ts";
import { removeQuietly } from "./temporary.ts";

/**
 * Renames a file that would become too long; what is appended next makes it anew.
 *
 * @param length of what is to be appended, in bytes
 * @param maxBytes the length at which it is rotated
 * @throws SystemError
 */
export function rotateIfFull(system: System, path: string, length: number, maxBytes: number): void {
  const now = statusOfFile(system, path)?.size ?? 0;
  if (now > 0 && now + length > maxBytes) system.rename(path, rotated(path));
}

/**
 * Reads the files of both names, the older one first; needs no lock.
 *
 * @param limit of each, in bytes
 * @returns their texts: none where there is no file
 * @throws SystemError where one cannot be read
 */
export function readRotated(system: System, path: string, limit: number): readonly string[] {
  for (;;) {
    const before = statusOfFile(system, path)?.inode;
    const texts = [rotated(path), path].map((name) => readIfFile(system, name, limit));
    // A file that was rotated meanwhile is in neither part.
    if (statusOfFile(system, path)?.inode === before) {
      return texts.filter((text) => text !== undefined);
    }
  }
}

/** Removes the files of both names, as far as this user may. */
export function removeRotated(system: System, path: string): void {
  for (const name of [path, rotated(path)]) removeQuietly(system, name);
}

/** The name of the file with the lines before those of another. */
function rotated(path: string): string {
  return `${path}.1`;
}

function readIfFile(system: System, path: string, limit: number): string | undefined {
  if (statusOfFile(system, path) === undefined) return undefined;
  return attempt(() => system.readFile(path, limit), undefined, "ENOENT");
}

/**
 * The status of a regular file; `undefined` for anything else.
 *
 * @throws SystemError where that is not known
 */
export function statusOfFile(system: System, path: string): FileStatus | undefined {
  const status = attempt(() => system.linkStatus(path), undefined, "ENOENT");
  return status?.kind === "file" ? status : undefined;
}
