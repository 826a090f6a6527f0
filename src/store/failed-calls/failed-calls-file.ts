/**
 * The calls of the running boot that failed, of all networks: each appends one line with one `write(2)`, so that none takes a
 * lock. They are in `/run`, which is writable where a data directory is full, read-only or immutable. The file is rotated once:
 * `failed-calls` becomes `failed-calls.1`. Of calls that rotate it at the same moment, one may remove lines from before.
 */

import { attempt, type System, SystemError } from "../../system/system.ts";
import { join } from "../files/paths.ts";
import { type CallRecord, parseCalls } from "./failed-call.ts";

/** The directory, unless the environment variable `HOST_LOCAL_RUNTIME_DIR` names another, as in tests. */
const RUNTIME_DIRECTORY = "/run/host-local";

const FILE = "failed-calls";

/** The name of the file with the lines before those. */
const ROTATED = `${FILE}.1`;

/** What is larger is not ours, in bytes. */
const LARGEST_FILE = 16 * 1024 * 1024;

/**
 * Appends a record, where that is possible: the call fails for its own reason, or succeeds, and for no other.
 *
 * @param record what became of the call
 */
export function keepCall(_system: System, _record: CallRecord): void {}

/**
 * Reads what was kept; needs no lock.
 *
 * @returns the records in the order of the files, oldest first; none where nothing was kept
 * @throws SystemError where a file cannot be read
 */
export function readFailedCalls(system: System): readonly CallRecord[] {
  const directory = system.environment("HOST_LOCAL_RUNTIME_DIR") ?? RUNTIME_DIRECTORY;
  return [ROTATED, FILE].flatMap((name) => {
    const path = join(directory, name);
    const status = attempt(() => system.linkStatus(path), undefined, "ENOENT");
    if (status === undefined) return [];
    if (status.kind !== "file") throw new SystemError("open", path, "EINVAL");
    return parseCalls(attempt(() => system.readFile(path, LARGEST_FILE), "", "ENOENT"));
  });
}
