/** What `host-local gc` leaves for its next run and for metrics: when it ran, and what it found dead and has not released. */

import { exactMember, listOf } from "../../cli/command/json-values.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { join } from "../../store/files/paths.ts";
import { isSystemError, SystemError } from "../../system/system.ts";

/** A reservation that was seen dead; one that is made anew for the same address is another. */
export interface SeenDead {
  /** The name of its file. */
  readonly name: string;
  /** Who holds it, by `keyOf`. */
  readonly owner: string;
  /** When the file was written, in nanoseconds since the epoch. */
  readonly modified: bigint;
  /** When it was first seen dead, in milliseconds since the epoch. */
  readonly since: number;
}

/** What runs have left. */
export interface CollectionRecord {
  /**
   * When a run with `--yes` was last not refused, in milliseconds since the epoch; `undefined` if there was none. Where that
   * cannot be recorded, it gets old, and the alert on it shows.
   */
  readonly lastRun: number | undefined;
  readonly seenDead: readonly SeenDead[];
}

/** The file is never larger, in bytes. */
const LARGEST_STATE = 64 * 1024 * 1024;

/** The name of the file, in the state directory. */
const FILE = "collection.json";

const NOTHING: CollectionRecord = { lastRun: undefined, seenDead: [] };

/** A key that no other reservation has, earlier or later. */
export function seenDeadKey({ name, owner, modified }: Omit<SeenDead, "since">): string {
  return `${name}\n${modified}\n${owner}`;
}

/** Reads what earlier runs have left. A file that is missing or malformed counts as empty. */
export function readCollection({ system, state }: NetworkFiles): CollectionRecord {
  if (state === undefined) return NOTHING;
  try {
    const found: unknown = JSON.parse(system.readFile(state.pathOf(FILE), LARGEST_STATE));
    const lastRun = exactMember(found, "lastRun");
    return {
      lastRun: typeof lastRun === "number" ? lastRun : undefined,
      seenDead: listOf(exactMember(found, "seenDead")).flatMap(seenDeadOf),
    };
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return NOTHING;
    throw error;
  }
}

/**
 * Replaces the file atomically; without a run and anything dead it is removed.
 *
 * @throws SystemError
 */
export function writeCollection(
  files: NetworkFiles,
  { lastRun, seenDead }: CollectionRecord,
): void {
  const { state } = files;
  if (state === undefined)
    throw new SystemError("open", join(files.stateDirectory, FILE), "ENOTDIR");
  if (lastRun === undefined && seenDead.length === 0) {
    state.remove(FILE);
    return;
  }
  const lines = seenDead.map(({ name, owner, modified, since }) =>
    JSON.stringify([name, owner, `${modified}`, since]),
  );
  state.replace(FILE, `{"lastRun": ${lastRun ?? null}, "seenDead": [\n${lines.join(",\n")}\n]}\n`);
}

function seenDeadOf(entry: unknown): readonly SeenDead[] {
  if (!Array.isArray(entry)) return [];
  const [name, owner, modified, since]: readonly unknown[] = entry;
  if (typeof name !== "string" || typeof owner !== "string" || typeof since !== "number") return [];
  // Not more digits than a time can have: QuickJS takes long to read a number of a million.
  if (typeof modified !== "string" || !/^-?[0-9]{1,30}$/.test(modified)) return [];
  return [{ name, owner, modified: BigInt(modified), since }];
}
