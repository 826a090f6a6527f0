/** The state of a network's directory at the end of the last call: if it is unchanged, nobody else wrote since. */

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
   * Whether the index is proven to be right. It is not where a foreign write may hide among our own: beside the portable
   * executable's lock, which the Go plugin does not take.
   */
  readonly isProven: boolean;
  readonly others: Others;
}

/**
 * Whether anybody works here who does not take the portable executable's lock: not seen since then, in milliseconds
 * since the epoch; or `absent`, since a search found nothing of them when that was long ago.
 */
export type Others = number | "absent";

/** No file system dates more coarsely than this, in milliseconds: what is older was not written a moment ago. */
const COARSEST_GRAIN = 3000;

/** After how many milliseconds without a foreign write others count as gone. */
const GONE_AFTER = 30_000;

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
  const match =
    /^3 ([0-9]+(?: [0-9]+){5}) ([0-9]{1,15}) ([0-9]{1,15}) (proven|open) ([0-9]{1,15}|absent)$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, state = "", reservations, ownerless, standing, others] = match;
  return {
    state,
    reservations: Number(reservations),
    ownerless: Number(ownerless),
    isProven: standing === "proven",
    // One from before the clock was set back is from now.
    others: others === "absent" ? others : Math.min(Number(others), system.now()),
  };
}

/**
 * Records a stamp, where none is.
 *
 * @returns false where there is one
 */
export function writeStamp(
  system: System,
  location: Location,
  { state, reservations, ownerless, isProven, others }: Stamp,
): boolean {
  const words = [3, state, reservations, ownerless, isProven ? "proven" : "open", others];
  try {
    system.symlink(words.join(" "), stampPath(location));
    return true;
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    return false;
  }
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

/** Whether the index may be used that a current stamp is for. */
export function isTrusted({ isProven, others }: Stamp): boolean {
  return isProven || others === "absent";
}

/**
 * What is known of others after a search.
 *
 * @param before what was known; `undefined` where they had just written
 * @param foundNothing whether the index was right, so that they had not
 */
export function othersAfter(
  system: System,
  before: Others | undefined,
  foundNothing: boolean,
): Others | undefined {
  if (!foundNothing || before === undefined) return undefined;
  return before === "absent" || system.now() - before > GONE_AFTER ? "absent" : before;
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
 * Dates a directory back by a moment, to a time that no later write can give it again: so an equal stamp is proof at
 * once, however coarse the kernel's clock.
 *
 * @returns its state from then on; `undefined` where the file system does not keep time finely enough for that
 */
export function dateBack(system: System, directory: string): Identity | undefined {
  // Off the full millisecond, and by another fraction in each process.
  const fraction = 100_000n + BigInt(system.processId() % 1000) * 800n;
  const time = BigInt(system.now() - DATED_BACK) * MILLISECOND + fraction;
  try {
    system.setModified(directory, time);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
  const status = system.status(directory);
  return status.modified % MILLISECOND === 0n ? undefined : identityOf(status);
}

function stampPath(location: Location): string {
  return join(location.stateDirectory, "stamp");
}
