/** What a network's directory looked like when we left it: equal means that nobody else wrote there. */

import { type FileStatus, isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";

/** The state of a directory, as far as `stat(2)` tells it. */
export type Identity = string & { readonly proof: "identity" };

export interface Stamp {
  /** The network's directory and that of the index. */
  readonly state: string;
  /** How many reservations there were. */
  readonly reservations: number;
  /** How many of them name no container, or could not be read. */
  readonly ownerless: number;
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
  const match = /^2 ([0-9]+(?: [0-9]+){5}) ([0-9]{1,15}) ([0-9]{1,15}) (settled|open)$/.exec(text);
  if (match === null) return undefined;
  const [, state = "", reservations, ownerless, settled] = match;
  return {
    state,
    reservations: Number(reservations),
    ownerless: Number(ownerless),
    settled: settled === "settled",
  };
}

/** Records the state as it is now, in a stamp, which must have been removed before. */
export function writeStamp(
  system: System,
  location: Location,
  { reservations, ownerless, settled }: Omit<Stamp, "state">,
): void {
  const words = [2, stateNow(system, location), reservations, ownerless];
  system.symlink(`${words.join(" ")} ${settled ? "settled" : "open"}`, stampPath(location));
}

/** Removes the stamp before anything is changed, so that a killed call leaves none. */
export function removeStamp(system: System, location: Location): void {
  try {
    system.unlink(stampPath(location));
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR")) throw error;
  }
}

/** Whether the network's directory and the index are still as the stamp says. */
export function isCurrent(system: System, location: Location, stamp: Stamp): boolean {
  try {
    return stateNow(system, location) === stamp.state;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

export function identityOf({ inode, modified, changed }: FileStatus): Identity {
  return `${inode} ${modified} ${changed}` as Identity;
}

function stateNow(system: System, location: Location): string {
  const directory = identityOf(system.status(location.directory));
  return `${directory} ${identityOf(system.status(location.owners))}`;
}

/** Whether the last write to the directory is so long ago that any further one will show. */
export function isQuiet(system: System, status: FileStatus): boolean {
  return status.modified < (BigInt(system.now()) - BigInt(COARSEST_GRAIN)) * MILLISECOND;
}

/**
 * Dates both directories back by a moment, to a time that no later write can give them again: so an equal stamp is
 * proof at once, however coarse the kernel's clock.
 *
 * @returns whether the file system keeps time finely enough for that
 */
export function dateBack(system: System, location: Location): boolean {
  // Off the full millisecond, and by another fraction in each process.
  const fraction = 100_000n + BigInt(system.processId() % 1000) * 800n;
  const time = BigInt(system.now() - DATED_BACK) * MILLISECOND + fraction;
  try {
    system.setModified(location.directory, time);
    system.setModified(location.owners, time);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
  return system.status(location.directory).modified % MILLISECOND !== 0n;
}

function stampPath(location: Location): string {
  return join(location.own, "stamp");
}
