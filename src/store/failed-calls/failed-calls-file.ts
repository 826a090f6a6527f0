/**
 * What failed since the machine booted, of all networks: each call that fails appends one line with one `write(2)`, so that none
 * takes a lock. It is in `/run`, which can be written where a data directory is full, read-only or immutable. The file is
 * rotated once: `failed-calls` becomes `failed-calls.1`. If two calls rotate it at the same moment, older lines may be lost.
 */

import { attempt, exists, recover, type System, SystemError } from "../../system/system.ts";
import { join, parentOf } from "../files/paths.ts";
import { readRotated, removeRotated, rotateIfFull } from "../files/rotated-file.ts";
import { directoryFault, errnoOfFault } from "../files/state-directory.ts";
import { type CallRecord, formatCall, parseCalls } from "./failed-call.ts";

/** The directory, unless `HOST_LOCAL_RUNTIME_DIR` names another: for tests, which are not to write to the machine's own. */
const RUNTIME_DIRECTORY = "/run/host-local";

const FILE = "failed-calls";

/** The length at which the file is rotated, in bytes. */
const LONGEST = 1024 * 1024;

/** What is larger is not ours, in bytes. */
const LARGEST = 16 * LONGEST;

/** Appends what became of a call, where this user may. A failure to do so does not change how the call ends. */
export function keepCall(system: System, record: CallRecord): void {
  try {
    append(system, formatCall(record));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

function append(system: System, line: string): void {
  const path = pathIn(requireDirectory(system));
  rotateIfFull(system, path, line.length, LONGEST);
  const write = (): void => system.appendLine(path, line, 0o600);
  const makeAndWrite = (): void => {
    const directory = parentOf(path);
    // A machine without `/run` does not get one.
    if (!exists(system, parentOf(directory))) return;
    system.makeDirectories(directory, 0o700);
    write();
  };
  recover(write, makeAndWrite, "ENOENT");
}

/**
 * Reads what was kept; needs no lock.
 *
 * @returns the records in the order of the files, oldest first; none where nothing was kept
 * @throws SystemError where that cannot be told: what is there cannot be read, or is not what a call has made
 */
export function readFailedCalls(system: System): readonly CallRecord[] {
  const path = pathIn(requireDirectory(system));
  const kind = attempt(() => system.linkStatus(path).kind, "file", "ENOENT");
  if (kind !== "file") throw new SystemError("open", path, "EINVAL");
  return readRotated(system, path, LARGEST).flatMap(parseCalls);
}

/** Removes what was kept, as far as this user may: with the plugin it goes, too. */
export function removeFailedCalls(system: System): void {
  attempt(() => removeRotated(system, pathIn(requireDirectory(system))), undefined);
}

/** The directory, where it may be used. */
function requireDirectory(system: System): string {
  const directory = runtimeDirectory(system);
  const fault = directoryFault(system, directory);
  if (fault === undefined) return directory;
  throw new SystemError("open", pathIn(directory), errnoOfFault(fault));
}

function pathIn(directory: string): string {
  return join(directory, FILE);
}

/** The directory of what is kept until the node restarts. */
export function runtimeDirectory(system: System): string {
  return system.environment("HOST_LOCAL_RUNTIME_DIR") || RUNTIME_DIRECTORY;
}
