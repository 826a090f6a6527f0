/** A directory as the lock, held by `proper-lockfile`: for where `flock(2)` is out of reach. */

import fs from "node:fs";
import properLockfile from "proper-lockfile";
import { isSystemError, type LockRequest, LockTimeout, SystemError } from "../system.ts";
import { openLockFile } from "./lock-file.ts";
import { pause } from "./pause.ts";
import { errnoOf, quietly } from "./system-call.ts";

/** How long a killed holder blocks others: the shortest staleness that proper-lockfile allows, in milliseconds. */
const STALE = 2000;

/** proper-lockfile dates a fresh lock up to a second ahead; one further ahead was made before the clock was set back. */
const FURTHEST_AHEAD = 1500;

/** The longest pause between two checks of a lock that is held, in milliseconds. */
const LONGEST_PAUSE = 250;

/**
 * Takes the lock.
 *
 * @returns the function that releases it
 * @throws LockTimeout, SystemError
 */
export function lockDirectory(
  request: LockRequest,
  makeDirectories: (path: string) => void,
): () => void {
  // The Go plugin expects it.
  fs.closeSync(openLockFile(request.file));
  const { file, directory } = request;
  try {
    if (directory !== undefined) {
      makeDirectories(directory);
      return waitFor(`${directory}/lock`, request.timeout);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
  // The state directory cannot be used: the lock is made beside the Go plugin's lock file, under a name that it ignores.
  return waitFor(file.replace(/[^/]*$/, ".host-local-lock"), request.timeout);
}

function waitFor(path: string, timeout: number): () => void {
  const deadline = performance.now() + timeout;
  for (let wait = 2; ; wait = Math.min(wait * 1.5, LONGEST_PAUSE)) {
    const unlock = isHeld(path) ? undefined : tryLock(path);
    if (unlock !== undefined) return unlock;
    const left = deadline - performance.now();
    if (left <= 0) throw new LockTimeout(path, undefined);
    // Hundreds may wait: they must not all retry at once, nor take CPU time from the holder.
    pause(Math.min(left, wait * (0.5 + Math.random())));
  }
}

function tryLock(path: string): (() => void) | undefined {
  let taken: bigint | undefined;
  const guarded = {
    ...fs,
    // Symbolic links are not followed.
    statSync: fs.lstatSync,
    utimesSync: fs.lutimesSync,
    /** A lock that went stale may be held by another process, which the mtime shows; then it stays. */
    rmdirSync: (directory: string): void => {
      if (taken === undefined || modified(directory) === taken) fs.rmdirSync(directory);
    },
  };
  try {
    const release = properLockfile.lockSync(path, {
      lockfilePath: path,
      realpath: false,
      stale: STALE,
      fs: guarded,
    });
    taken = modified(path);
    // One that cannot be removed goes stale.
    return () => quietly(release);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ELOCKED") return undefined;
    throw new SystemError("mkdir", path, code);
  }
}

function modified(path: string): bigint {
  return fs.statSync(path, { bigint: true }).mtimeNs;
}

/** A check that costs less than an attempt. A lock dated in the future would never go stale, so it is dated now. */
function isHeld(path: string): boolean {
  // The clock is read before the check: time may pass in between, and the lock must not seem older than it is.
  const earliest = Date.now();
  const found = quietly(() => fs.lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return false;
  // Anything but a directory is not a lock, and would never be released.
  if (!found.isDirectory()) throw new SystemError("mkdir", path, "ENOTDIR");
  const now = Date.now();
  // An error means that it was released meanwhile.
  if (found.mtimeMs > now + FURTHEST_AHEAD)
    quietly(() => fs.lutimesSync(path, now / 1000, now / 1000));
  return found.mtimeMs >= earliest - STALE;
}
