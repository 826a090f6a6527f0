/** The reservations that `host-local gc` found dead but has not released, and since when, kept for its next run. */

import { join, type Location } from "../../store/files/paths.ts";
import { withSafeStateDirectory } from "../../store/files/state-directory.ts";
import { withTemporary } from "../../store/files/temporary.ts";
import type { Store } from "../../store/locked-network.ts";
import { releaseWhere } from "../../store/release.ts";
import { ownerText } from "../../store/reservations/owner.ts";
import { isSystemError, type System, SystemError } from "../../system/system.ts";
import { modifiedOf } from "../node/release-unchanged.ts";

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

/**
 * Releases those reservations that are unchanged since they were seen dead; each file is checked again.
 *
 * @returns the names of the released reservations
 * @throws CniError 5 with the path and reason of each failure, after the others were released
 */
export function releaseSeenDead(
  store: Store,
  seen: readonly Omit<SeenDead, "since">[],
): readonly string[] {
  const { system, location } = store;
  const wanted = new Set(seen.map(seenDeadKey));
  const names = new Set(seen.map(({ name }) => name));
  return releaseWhere(store, ({ name, owner }) => {
    const text = names.has(name) ? ownerText(owner) : undefined;
    const modified = text === undefined ? undefined : modifiedOf(system, location, name);
    if (text === undefined || modified === undefined) return false;
    return wanted.has(seenDeadKey({ name, owner: text, modified }));
  });
}
