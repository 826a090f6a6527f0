/** What `host-local gc` leaves for its next run and for metrics: when it ran, and what it found dead and has not released. */

import { exactMember } from "../../cli/command/json-values.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import type { OpenedStatus } from "../../store/reservations/directory-scan.ts";
import { keyOf } from "../../store/reservations/owner.ts";
import { isSystemError } from "../../system/system.ts";
import type { NodeReservation } from "../held/network-directory.ts";

/** What runs have left. */
export interface CollectionRecord {
  /**
   * When a run with `--yes` was last not refused, in milliseconds since the epoch; `undefined` if there was none. Where that
   * cannot be recorded, it gets old, and the alert on it shows.
   */
  readonly lastRun: number | undefined;
  /** When each was first seen dead, in milliseconds since the epoch, by `seenId`. */
  readonly seenDead: ReadonlyMap<string, number>;
}

/** The file is never larger, in bytes. */
const LARGEST_STATE = 64 * 1024 * 1024;

/** The name of the file, in the state directory. */
const FILE = "collection.json";

const NOTHING: CollectionRecord = { lastRun: undefined, seenDead: new Map() };

/**
 * The identity of a reservation, which no other one of the network has, earlier or later: the name of its file, which file that
 * is, and who holds it. `undefined` if the file names no container, or its time cannot be read.
 */
export function seenId({
  name,
  owner,
  status,
}: Pick<NodeReservation, "name" | "owner"> & {
  readonly status: Pick<OpenedStatus, "id"> | undefined;
}): string | undefined {
  const key = keyOf(owner);
  return key === undefined || status === undefined ? undefined : `${name} ${status.id} ${key}`;
}

/** Reads what earlier runs have left. A file that is missing or malformed counts as empty. */
export function readCollection({ system, state }: NetworkFiles): CollectionRecord {
  if (state === undefined) return NOTHING;
  try {
    const found: unknown = JSON.parse(system.readFile(state.pathOf(FILE), LARGEST_STATE));
    const lastRun = exactMember(found, "lastRun");
    return {
      lastRun: typeof lastRun === "number" ? lastRun : undefined,
      seenDead: timesIn(exactMember(found, "seenDead")),
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
  const state = files.requireState(FILE);
  if (lastRun === undefined && seenDead.size === 0) {
    state.remove(FILE);
    return;
  }
  state.replace(FILE, `${JSON.stringify({ lastRun, seenDead: Object.fromEntries(seenDead) })}\n`);
}

function timesIn(value: unknown): ReadonlyMap<string, number> {
  if (typeof value !== "object" || value === null) return NOTHING.seenDead;
  return new Map(Object.entries(value).filter(([, since]) => typeof since === "number"));
}
