/**
 * The history: who got which address, and when it was released. Each call that reserves or releases addresses appends one line
 * for each of them, under the lock, after it was done: a call that is killed before is missing in the history, but no line
 * is false. The file is rotated once: `history` becomes `history.1`.
 */

import { attempt, recover, SystemError } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { join } from "../files/paths.ts";
import { readRotated, rotateIfFull, statusOfFile } from "../files/rotated-file.ts";
import { isSameOwner } from "../reservations/owner.ts";
import {
  type Change,
  formatRecord,
  type HistoryRecord,
  type HistoryVerb,
  parseRecords,
} from "./history-record.ts";

/** A call as its lines describe it. */
export interface HistoryCall {
  /** The length at which the file is rotated, in bytes. */
  readonly maxBytes: number;
  readonly verb: HistoryVerb;
  /** `namespace/name` of the call's pod, or a name alone; empty where it is not known. */
  readonly pod: string;
}

/** Neither file is larger, in bytes: the lines of one call stay together, and a GC may have thousands. */
const LARGEST_HISTORY = 256 * 1024 * 1024;

/** The name of the file that lines are appended to, in the state directory. */
const FILE = "history";

/**
 * Appends what a call has done; to be called before the lock is released.
 *
 * @param changes in their order
 * @param isLocked whether the lock is held: without it, calls could overwrite each other's lines
 * @returns a line for standard error where that is not possible
 */
export function keepHistory(
  files: NetworkFiles,
  call: HistoryCall,
  changes: readonly Change[],
  isLocked: boolean,
): string | undefined {
  const told = lasting(changes);
  if (told.length === 0) return undefined;
  const write = (): undefined => {
    if (!isLocked) throw new SystemError("lock", files.lockFile, "EAGAIN");
    const time = files.system.now();
    const lines = told.map((change) => formatRecord(recordOf(change, call, time)));
    append(files, lines.join(""), call.maxBytes);
  };
  return recover(
    write,
    ({ message }) => `host-local: this call is missing in the history: ${message}\n`,
  );
}

/** The changes that last: no container has used an address that was reserved and released again. */
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
): HistoryRecord {
  const isTaken = verb === "ADD" && kind === "released";
  const namesContainer = owner.kind === "attachment" || owner.kind === "legacy";
  return {
    time,
    verb: isTaken ? "RECLAIM" : verb,
    address: name,
    container: namesContainer ? owner.containerId : "",
    interfaceName: owner.kind === "attachment" ? owner.interfaceName : "",
    // A reclaimed address was another pod's.
    pod: isTaken ? "" : pod,
  };
}

function append(files: NetworkFiles, text: string, maxBytes: number): void {
  const { system } = files;
  const state = files.requireState(FILE);
  rotateIfFull(system, state.pathOf(FILE), text.length, maxBytes);
  const create = (): void => {
    system.makeDirectories(state.path, 0o700);
    system.createFile(state.pathOf(FILE), text, 0o600);
  };
  recover(() => state.extend(FILE, text), create, "ENOENT");
}

/** Whether there is a history, by its file; for the operator's commands, which may not know the configuration. */
export function hasHistory({ system, state }: NetworkFiles): boolean {
  if (state === undefined) return false;
  return attempt(() => statusOfFile(system, state.pathOf(FILE)), undefined) !== undefined;
}

/**
 * Reads the history; needs no lock.
 *
 * @returns the records in the order of the file, which is that of the calls, whatever the clock; `undefined` where there is
 *   no history
 * @throws SystemError where a file cannot be read
 */
export function readHistory({
  system,
  state,
  stateDirectory,
}: NetworkFiles): readonly HistoryRecord[] | undefined {
  const path = join(stateDirectory, FILE);
  // This throws where this user may not see the file.
  statusOfFile(system, path);
  if (state === undefined) return undefined;
  const texts = readRotated(system, path, LARGEST_HISTORY);
  return texts.length === 0 ? undefined : texts.flatMap(parseRecords);
}
