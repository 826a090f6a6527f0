/** What tells a file or directory from another, and from itself after a change. */

import { attempt, type FileStatus, type System } from "../../system/system.ts";

/** What of a file changes with its content, names or attributes, and of a directory also with the files in it. */
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

/** How inexactly a time may be set, in nanoseconds: Node.js takes a number of seconds. */
const INEXACT = 2000n;

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

/** The fingerprint of the file or directory with this status. */
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
  const isCoarse = before.id.endsWith(FULL_SECOND);
  const now = system.now();
  const time = isCoarse ? coarseTime(system, now) : ownTime(system, now - DATED_BACK);
  return attempt(() => {
    // The time is set only once, so that what another process writes meanwhile shows.
    system.setModified(directory, time);
    const status = system.status(directory);
    const { modified } = status;
    const isKept = isCoarse
      ? modified === time
      : modified < time + MILLISECOND && modified % MILLISECOND !== 0n;
    return isKept ? fingerprintOf(status) : undefined;
  }, undefined);
}

/** A time of a millisecond, in nanoseconds: off the full one, and by another fraction in each process. */
function ownTime(system: System, milliseconds: number): bigint {
  return BigInt(milliseconds) * MILLISECOND + BigInt(100_000 + (system.processId() % 1000) * 800);
}

/** A full second of a day of which nobody writes any more, in nanoseconds: another in each process and each millisecond. */
function coarseTime(system: System, now: number): bigint {
  const back = (now % 1000) * 1000 + (system.processId() % 1000);
  return BigInt(Math.floor((now - DATED_BACK) / 1000) - back) * SECOND;
}

/**
 * Dates a new file by the clock, so that no other one has its number and its time: the kernel, which uses a number again at once,
 * dates files by its last tick.
 *
 * @returns the time; `undefined` where that is not possible
 */
export function dateApart(system: System, path: string): bigint | undefined {
  const time = ownTime(system, system.now());
  return attempt(() => {
    system.setModified(path, time);
    return time;
  }, undefined);
}

/**
 * The fingerprint of the file at a path, where it is the one that `dateApart` has dated; `undefined` where it is another, or the
 * file system keeps no such times, and where that is not known.
 */
export function fingerprintApart(
  system: System,
  path: string,
  time: bigint | undefined,
): Fingerprint | undefined {
  const status = time === undefined ? undefined : attempt(() => system.linkStatus(path), undefined);
  if (time === undefined || status?.kind !== "file") return undefined;
  const { modified } = status;
  const isKept = modified === time || (modified > time - INEXACT && modified < time + INEXACT);
  return isKept ? fingerprintOf(status) : undefined;
}
