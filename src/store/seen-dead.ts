/** The reservations that `host-local gc` found dead but has not released, and since when, kept for its next run. */

import { isSystemError, type System, SystemError } from "../system/system.ts";
import { join, type Location } from "./location.ts";
import { withSafeStateDirectory } from "./state-directory.ts";
import { withTemporary } from "./temporary.ts";

/** A reservation that was seen dead; one that is made anew for the same address is another. */
export interface SeenDead {
  /** The name of its file. */
  readonly name: string;
  /** The owner that the file names, see `ownerText`. */
  readonly owner: string;
  /** When the file was written, in nanoseconds since the epoch. */
  readonly modified: bigint;
  /** When it was first seen dead, in milliseconds since the epoch. */
  readonly since: number;
}

/** The file is never larger, in bytes. */
const LARGEST_STATE = 64 * 1024 * 1024;

/** The path of the file, in the state directory. */
export function seenDeadPath(location: Location): string {
  return join(location.stateDirectory, "seen-dead.json");
}

/** A key that no other reservation has, earlier or later. */
export function seenDeadKey({ name, owner, modified }: Omit<SeenDead, "since">): string {
  return `${name}\n${modified}\n${owner}`;
}

/** Reads what earlier runs saw dead. A file that is missing or malformed counts as empty. */
export function readSeenDead(system: System, location: Location): readonly SeenDead[] {
  if (!withSafeStateDirectory(system, location).usesStateDirectory) return [];
  try {
    const state: unknown = JSON.parse(system.readFile(seenDeadPath(location), LARGEST_STATE));
    return Array.isArray(state) ? state.flatMap(seenDeadOf) : [];
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return [];
    throw error;
  }
}

/**
 * Replaces the file atomically; an empty list removes it.
 *
 * @throws SystemError
 */
export function writeSeenDead(
  system: System,
  location: Location,
  seenDead: readonly SeenDead[],
): void {
  const path = seenDeadPath(location);
  if (!withSafeStateDirectory(system, location).usesStateDirectory) {
    throw new SystemError("open", path, "ENOTDIR");
  }
  if (seenDead.length === 0) {
    removeSeenDead(system, location);
    return;
  }
  const lines = seenDead.map(({ name, owner, modified, since }) =>
    JSON.stringify([name, owner, `${modified}`, since]),
  );
  const text = `[\n${lines.join(",\n")}\n]\n`;
  withTemporary(system, location, text, (temporary) => system.rename(temporary, path));
}

/**
 * Removes the file.
 *
 * @throws SystemError
 */
export function removeSeenDead(system: System, location: Location): void {
  try {
    system.unlink(seenDeadPath(location));
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR")) throw error;
  }
}

function seenDeadOf(entry: unknown): readonly SeenDead[] {
  if (!Array.isArray(entry)) return [];
  const [name, owner, modified, since]: readonly unknown[] = entry;
  if (typeof name !== "string" || typeof owner !== "string" || typeof since !== "number") return [];
  if (typeof modified !== "string" || !/^-?[0-9]+$/.test(modified)) return [];
  return [{ name, owner, modified: BigInt(modified), since }];
}
