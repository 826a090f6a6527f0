/**
 * The history: who had which address, from when until when. Each call that reserves or releases addresses appends one line
 * for each of them, under the lock, after it was done: a call that is killed before is missing in the history, but no line
 * is false. The file is turned over once: `history` becomes `history.1`.
 */

import {
  exists,
  type FileStatus,
  isSystemError,
  type System,
  SystemError,
} from "../../system/system.ts";
import { join, type Location } from "../files/paths.ts";
import { withSafeStateDirectory } from "../files/state-directory.ts";
import type { Change, Store } from "../locked-network.ts";
import { isSameOwner, ownerText } from "../reservations/owner.ts";
import {
  formatRecord,
  type HistoryRecord,
  type HistoryVerb,
  parseRecords,
} from "./history-record.ts";

/** A call as its lines describe it. */
export interface HistoryCall {
  /** The length at which the file is turned over, in bytes. */
  readonly maxBytes: number;
  readonly verb: HistoryVerb;
  /** `namespace/name` of the call's pod, or a name alone; empty where it is not known. */
  readonly pod: string;
  /** Who makes the call; asked only if there is anything to append. */
  readonly caller: () => string;
}

/** Neither file is larger, in bytes: the lines of one call stay together, and a GC may have thousands. */
const LARGEST_HISTORY = 256 * 1024 * 1024;

/** The path of the file that lines are appended to. */
export function historyPath({ stateDirectory }: Location): string {
  return join(stateDirectory, "history");
}

/** The path of the file with the lines before those. */
export function turnedOverPath(location: Location): string {
  return `${historyPath(location)}.1`;
}

/**
 * Appends what a call has done. Where that is not possible, the call goes on, and a line on standard error says why. To be
 * called before the lock is released.
 *
 * @param changes as the store has noted them
 * @param isLocked whether the lock is held: without it, calls could overwrite each other's lines
 */
export function keepHistory(
  store: Store,
  call: HistoryCall,
  changes: readonly Change[],
  isLocked: boolean,
): void {
  const kept = lasting(changes);
  if (kept.length === 0) return;
  const { system, location } = store;
  try {
    if (!isLocked) throw new SystemError("lock", location.lockFile, "EAGAIN");
    if (!location.usesStateDirectory) {
      throw new SystemError("open", historyPath(location), "ENOTDIR");
    }
    const time = system.now();
    const caller = call.caller();
    const lines = kept.map((change) => formatRecord(recordOf(change, call, time, caller)));
    append(system, location, lines.join(""), call.maxBytes);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    store.warn(`host-local: this call is missing in the history: ${error.message}\n`);
  }
}

/** Without what was reserved and released again: nobody has used it. */
function lasting(changes: readonly Change[]): readonly Change[] {
  const reserved = changes.filter(({ kind }) => kind === "reserved");
  const released = changes.filter(({ kind }) => kind === "released");
  return changes.filter(({ kind, name, owner }) => {
    const opposite = kind === "reserved" ? released : reserved;
    return !opposite.some((other) => other.name === name && isSameOwner(other.owner, owner));
  });
}

function recordOf(
  { kind, name, owner }: Change,
  { verb, pod }: HistoryCall,
  time: number,
  caller: string,
): HistoryRecord {
  const isTaken = verb === "ADD" && kind === "released";
  const [container = "", interfaceName = ""] = ownerText(owner)?.split("\r\n") ?? [];
  return {
    time,
    verb: isTaken ? "RECLAIM" : verb,
    address: name,
    container,
    interfaceName,
    // What gave way was another's.
    pod: isTaken ? "" : pod,
    caller,
  };
}

function append(system: System, location: Location, text: string, maxBytes: number): void {
  const path = historyPath(location);
  const length = fileStatus(system, path)?.size ?? 0;
  if (length > 0 && length + text.length > maxBytes) {
    system.rename(path, turnedOverPath(location));
  }
  try {
    system.extendFile(path, text, "");
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    system.makeDirectories(location.stateDirectory, 0o700);
    system.createFile(path, text, 0o600);
  }
}

/** Whether a history is kept by its file; for the operator's commands, which may not know the configuration. */
export function hasHistory(system: System, location: Location): boolean {
  const { usesStateDirectory } = withSafeStateDirectory(system, location);
  return usesStateDirectory && exists(system, historyPath(location));
}

/**
 * Reads the history; needs no lock.
 *
 * @returns the records in the order of the file, which is that of the calls, whatever the clock; `undefined` where there is
 *   no history
 * @throws SystemError where a file cannot be read
 */
export function readHistory(
  system: System,
  location: Location,
): readonly HistoryRecord[] | undefined {
  const path = historyPath(location);
  // This says what this user may not see.
  fileStatus(system, path);
  if (!withSafeStateDirectory(system, location).usesStateDirectory) return undefined;
  for (;;) {
    const before = fileStatus(system, path)?.inode;
    const parts = [turnedOverPath(location), path].map((one) => readIfFile(system, one));
    // A file that was turned over meanwhile is in neither part.
    if (fileStatus(system, path)?.inode !== before) continue;
    const texts = parts.filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : texts.flatMap(parseRecords);
  }
}

function readIfFile(system: System, path: string): string | undefined {
  if (fileStatus(system, path) === undefined) return undefined;
  try {
    return system.readFile(path, LARGEST_HISTORY);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The status of a regular file; `undefined` for anything else. */
function fileStatus(system: System, path: string): FileStatus | undefined {
  try {
    const status = system.linkStatus(path);
    return status.kind === "file" ? status : undefined;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}
