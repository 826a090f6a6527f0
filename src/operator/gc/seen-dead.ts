/** The reservations that `host-local gc` found dead but has not released, and since when, kept for its next run. */

import type { NetworkFiles } from "../../store/files/network-files.ts";
import { join } from "../../store/files/paths.ts";
import { isSystemError, SystemError } from "../../system/system.ts";

/** A reservation that was seen dead; one that is made anew for the same address is another. */
export interface SeenDead {
  /** The name of its file. */
  readonly name: string;
  /** Who holds it, by `keyOfOwner`. */
  readonly owner: string;
  /** When the file was written, in nanoseconds since the epoch. */
  readonly modified: bigint;
  /** When it was first seen dead, in milliseconds since the epoch. */
  readonly since: number;
}

/** The file is never larger, in bytes. */
const LARGEST_STATE = 64 * 1024 * 1024;

/** The name of the file, in the state directory. */
const FILE = "seen-dead.json";

/** A key that no other reservation has, earlier or later. */
export function seenDeadKey({ name, owner, modified }: Omit<SeenDead, "since">): string {
  return `${name}\n${modified}\n${owner}`;
}

/** Reads what earlier runs saw dead. A file that is missing or malformed counts as empty. */
export function readSeenDead({ system, state }: NetworkFiles): readonly SeenDead[] {
  if (state === undefined) return [];
  try {
    const found: unknown = JSON.parse(system.readFile(state.pathOf(FILE), LARGEST_STATE));
    return Array.isArray(found) ? found.flatMap(seenDeadOf) : [];
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
export function writeSeenDead(files: NetworkFiles, seenDead: readonly SeenDead[]): void {
  const { state } = files;
  if (state === undefined)
    throw new SystemError("open", join(files.stateDirectory, FILE), "ENOTDIR");
  if (seenDead.length === 0) {
    state.remove(FILE);
    return;
  }
  const lines = seenDead.map(({ name, owner, modified, since }) =>
    JSON.stringify([name, owner, `${modified}`, since]),
  );
  state.replace(FILE, `[\n${lines.join(",\n")}\n]\n`);
}

function seenDeadOf(entry: unknown): readonly SeenDead[] {
  if (!Array.isArray(entry)) return [];
  const [name, owner, modified, since]: readonly unknown[] = entry;
  if (typeof name !== "string" || typeof owner !== "string" || typeof since !== "number") return [];
  // Not more digits than a time can have: QuickJS takes long to read a number of a million.
  if (typeof modified !== "string" || !/^-?[0-9]{1,30}$/.test(modified)) return [];
  return [{ name, owner, modified: BigInt(modified), since }];
}
