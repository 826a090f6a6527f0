/** What a network's directory looked like when we left it: equal means that nobody else wrote there. */

import { type FileStatus, isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";

/** The state of a directory, as far as `stat(2)` tells it. */
export type Identity = string & { readonly proof: "identity" };

export interface Stamp {
  readonly identity: Identity;
  /** How many reservations there were. */
  readonly reservations: number;
  /**
   * Whether an equal stamp proves that nobody wrote since. It does not while a write within the grain of the file
   * system's clock, or beside a lock that the Go plugin does not take, could have gone unseen.
   */
  readonly settled: boolean;
}

/** No file system dates more coarsely than this, in milliseconds: what is older was not written a moment ago. */
const COARSEST_GRAIN = 3000;

/** How far back a directory is dated, in milliseconds: beyond a tick of the kernel's clock. */
const DATED_BACK = 20;

const MILLISECOND = 1_000_000n;

/** The stamp; `undefined` where there is none. It is kept as the text of a symbolic link: whole or not at all. */
export function readStamp(system: System, location: Location): Stamp | undefined {
  let text: string;
  try {
    text = system.readLink(stampPath(location));
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
  const match = /^1 ([0-9]+ [0-9]+ [0-9]+) ([0-9]+) (settled|open)$/.exec(text);
  if (match === null) return undefined;
  return {
    identity: match[1] as Identity,
    reservations: Number(match[2]),
    settled: match[3] === "settled",
  };
}

/** Records the stamp, which must have been removed before. */
export function writeStamp(system: System, location: Location, stamp: Stamp): void {
  const { identity, reservations, settled } = stamp;
  system.symlink(
    `1 ${identity} ${reservations} ${settled ? "settled" : "open"}`,
    stampPath(location),
  );
}

/** Removes the stamp before anything is changed, so that a killed call leaves none. */
export function removeStamp(system: System, location: Location): void {
  try {
    system.unlink(stampPath(location));
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR")) throw error;
  }
}

/** Whether the directory is still as the stamp says. */
export function isCurrent(system: System, location: Location, stamp: Stamp): boolean {
  return identityOf(system.status(location.directory)) === stamp.identity;
}

export function identityOf({ inode, modified, changed }: FileStatus): Identity {
  return `${inode} ${modified} ${changed}` as Identity;
}

/** Whether the last write to the directory is so long ago that any further one will show. */
export function isQuiet(system: System, status: FileStatus): boolean {
  return status.modified < (BigInt(system.now()) - BigInt(COARSEST_GRAIN)) * MILLISECOND;
}

/**
 * Dates the directory back by a moment, to a time that no later write can give it again: so an equal stamp is proof at
 * once, however coarse the kernel's clock.
 *
 * @returns whether the file system keeps time finely enough for that
 */
export function dateBack(system: System, location: Location): boolean {
  try {
    // Off the full millisecond, and by another fraction in each process.
    const fraction = 100_000n + BigInt(system.processId() % 1000) * 800n;
    const time = BigInt(system.now() - DATED_BACK) * MILLISECOND + fraction;
    system.setModified(location.directory, time);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
  return system.status(location.directory).modified % MILLISECOND !== 0n;
}

/** The name of the stamp among the entries of the index; theirs contain a colon. */
export const STAMP = "stamp";

function stampPath(location: Location): string {
  return join(location.owners, STAMP);
}
