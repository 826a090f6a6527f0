/** The identity of a file or directory at a time: while it is the same, nobody wrote there. */

import { type FileStatus, isSystemError, type System } from "../../system/system.ts";

/** Inode, time of last modification and time of last change of a file, as text without spaces. */
export type Identity = string & { readonly proof: "identity" };

const MILLISECOND = 1_000_000n;

/** How far back a directory is dated, in milliseconds: beyond what file systems and kernels round times to. */
const DATED_BACK = 3000;

/** The identity of the file with this status. */
export function identityOf({ inode, modified, changed }: FileStatus): Identity {
  return `${inode},${modified},${changed}` as Identity;
}

/**
 * Dates a directory back by a moment, to a time that no later write can give it again: so its identity shows any
 * write, however coarse the clock by which the kernel dates files.
 *
 * @returns its identity from then on; `undefined` where that is not possible: the directory belongs to another user, or
 *   the file system does not keep times finely enough to tell this call's from another's
 */
export function dateBack(system: System, directory: string): Identity | undefined {
  // Off the full millisecond, and by another fraction in each process.
  const fraction = 100_000n + BigInt(system.processId() % 1000) * 800n;
  const time = BigInt(system.now() - DATED_BACK) * MILLISECOND + fraction;
  try {
    system.setModified(directory, time);
    const status = system.status(directory);
    const isKept = status.modified < time + MILLISECOND && status.modified % MILLISECOND !== 0n;
    return isKept ? identityOf(status) : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
