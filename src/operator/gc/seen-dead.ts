/** The reservations that `host-local gc` found dead but has not released, and since when, kept for its next run. */

import type { NetworkFiles } from "../../store/files/network-files.ts";
import { join } from "../../store/files/paths.ts";
import type { LockedNetwork } from "../../store/locked-network.ts";
import { releaseWhere } from "../../store/release.ts";
import { keyOfOwner } from "../../store/reservations/owner.ts";
import { isSystemError, SystemError } from "../../system/system.ts";
import { modifiedOf } from "../node/release-unchanged.ts";

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

/** The path of the file. */
export function seenDeadPath({ stateDirectory }: NetworkFiles): string {
  return join(stateDirectory, FILE);
}

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
  if (state === undefined) throw new SystemError("open", seenDeadPath(files), "ENOTDIR");
  if (seenDead.length === 0) {
    removeSeenDead(files);
    return;
  }
  const lines = seenDead.map(({ name, owner, modified, since }) =>
    JSON.stringify([name, owner, `${modified}`, since]),
  );
  state.replace(FILE, `[\n${lines.join(",\n")}\n]\n`);
}

/**
 * Removes the file.
 *
 * @throws SystemError
 */
export function removeSeenDead({ state }: NetworkFiles): void {
  state?.remove(FILE);
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
  network: LockedNetwork,
  seen: readonly Omit<SeenDead, "since">[],
): readonly string[] {
  const wanted = new Set(seen.map(seenDeadKey));
  const names = new Set(seen.map(({ name }) => name));
  return releaseWhere(network, ({ name, owner }) => {
    const text = names.has(name) ? keyOfOwner(owner) : undefined;
    const modified = text === undefined ? undefined : modifiedOf(network.files, name);
    if (text === undefined || modified === undefined) return false;
    return wanted.has(seenDeadKey({ name, owner: text, modified }));
  });
}
