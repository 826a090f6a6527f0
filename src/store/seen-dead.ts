/** Which reservations were seen dead, and since when: what one run of a collection leaves for the next. */

import { isSystemError, type System, SystemError } from "../system/system.ts";
import { join, type Location } from "./location.ts";
import { withSafeStateDirectory } from "./state-directory.ts";
import { withTemporary } from "./temporary.ts";

/** A reservation as it was seen: the same address, taken again, is another one. */
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

const LARGEST_STATE = 64 * 1024 * 1024;

/** Where sightings are kept: beside the owner index, out of the reference's reach. */
export function seenDeadPath(location: Location): string {
  return join(location.stateDirectory, "seen-dead.json");
}

/** What tells one reservation from any other, earlier or later one. */
export function seenDeadKey({ name, owner, modified }: Omit<SeenDead, "since">): string {
  return `${name}\n${modified}\n${owner}`;
}

/** The sightings of earlier runs. A file that is missing, or is not understood, counts as none. */
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
 * Replaces what earlier runs left, in one step; no sightings remove it.
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
 * Forgets what earlier runs saw.
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
