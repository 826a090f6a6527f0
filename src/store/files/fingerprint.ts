/** What tells a file or directory from another, and from itself after a change. */

import { attempt, type FileStatus, type System } from "../../system/system.ts";

/** What of a directory changes when somebody makes, names or removes a file in it. */
export interface Fingerprint {
  readonly id: FileId;
  /** The time of its last change, in nanoseconds since the epoch. As text: a number of so many digits takes long to read. */
  readonly changed: string;
}

const MILLISECOND = 1_000_000n;
const SECOND = 1000n * MILLISECOND;

/** What a time of a full second ends with, in nanoseconds. */
const FULL_SECOND = "0".repeat(9);

/** How far back a directory is dated, in milliseconds: beyond what file systems and kernels round times to. */
const DATED_BACK = 3000;

/** Inode and time of last modification of a file, as text without spaces: whoever replaces or writes it changes one. */
export type FileId = string & { readonly proof: "file id" };

/** The id of the file with this status. */
export function fileIdOf({ inode, modified }: Pick<FileStatus, "inode" | "modified">): FileId {
  return `${inode},${modified}` as FileId;
}

/**
 * The id of the regular file at a path; `undefined` where there is none.
 *
 * @throws SystemError where that is not known
 */
export function fileIdAt(system: System, path: string): FileId | undefined {
  const status = attempt(() => system.linkStatus(path), undefined, "ENOENT");
  return status?.kind === "file" ? fileIdOf(status) : undefined;
}

/** The fingerprint of the directory with this status. */
export function fingerprintOf(status: FileStatus): Fingerprint {
  return { id: fileIdOf(status), changed: `${status.changed}` };
}

/** Whether a directory is as it was. */
export function isUnchanged(now: Fingerprint, before: Fingerprint): boolean {
  return now.id === before.id && now.changed === before.changed;
}

/**
 * Dates a directory back by a moment, to a time that no later write can give it again: so its fingerprint shows any
 * write, however coarse the clock by which the kernel dates files. Where times are kept in full seconds, it is a second of the
 * last twelve days.
 *
 * @param before a fingerprint that it had
 * @returns its fingerprint from then on; `undefined` where that is not possible: the directory belongs to another user, or
 *   the file system keeps no such times
 */
export function dateBack(
  system: System,
  directory: string,
  before: Fingerprint,
): Fingerprint | undefined {
  const now = system.now();
  // Off the full millisecond, and by another fraction in each process.
  const fraction = 100_000n + BigInt(system.processId() % 1000) * 800n;
  const exact = BigInt(now - DATED_BACK) * MILLISECOND + fraction;
  // The same, of a day of which nobody writes any more: another second in each process, and in each millisecond.
  const back = (now % 1000) * 1000 + (system.processId() % 1000);
  const coarse = BigInt(Math.floor((now - DATED_BACK) / 1000) - back) * SECOND;
  return attempt(() => {
    // Set but once: what another process writes meanwhile has to show.
    const isCoarse = before.id.endsWith(FULL_SECOND);
    const time = isCoarse ? coarse : exact;
    system.setModified(directory, time);
    const status = system.status(directory);
    const { modified } = status;
    const isKept = isCoarse
      ? modified === coarse
      : modified < exact + MILLISECOND && modified % MILLISECOND !== 0n;
    return isKept ? fingerprintOf(status) : undefined;
  }, undefined);
}
