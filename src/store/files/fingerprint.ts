/** What tells a file or directory from another, and from itself after a change. */

import { attempt, type FileStatus, type System } from "../../system/system.ts";

/** What of a directory changes when somebody makes, names or removes a file in it. */
export interface Fingerprint {
  readonly id: FileId;
  /** The time of its last change, in nanoseconds since the epoch. As text: a number of so many digits takes long to read. */
  readonly changed: string;
}

const MILLISECOND = 1_000_000n;

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
 * write, however coarse the clock by which the kernel dates files.
 *
 * @returns its fingerprint from then on; `undefined` where that is not possible: the directory belongs to another user, or
 *   the file system does not keep times finely enough to tell this call's from another's
 */
export function dateBack(system: System, directory: string): Fingerprint | undefined {
  // Off the full millisecond, and by another fraction in each process.
  const fraction = 100_000n + BigInt(system.processId() % 1000) * 800n;
  const time = BigInt(system.now() - DATED_BACK) * MILLISECOND + fraction;
  const status = attempt(() => {
    system.setModified(directory, time);
    return system.status(directory);
  }, undefined);
  if (status === undefined) return undefined;
  const isKept = status.modified < time + MILLISECOND && status.modified % MILLISECOND !== 0n;
  return isKept ? fingerprintOf(status) : undefined;
}
