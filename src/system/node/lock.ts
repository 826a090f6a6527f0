/** The portable lock: a directory held by `proper-lockfile`. */

import fs from "node:fs";
import properLockfile from "proper-lockfile";
import { isSystemError, type LockRequest, LockTimeout, SystemError } from "../system.ts";
import { pause } from "./pause.ts";
import { errnoOf, systemCall } from "./system-call.ts";

/** The shortest staleness that proper-lockfile allows, in milliseconds: so long does a killed holder block others. */
const STALE = 2000;

/** proper-lockfile dates a fresh lock up to a second ahead; one further ahead is from before the clock was set back. */
const FURTHEST_AHEAD = 1500;

/** The longest pause between two looks at a lock that others hold, in milliseconds. */
const LONGEST_PAUSE = 250;

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = fs.constants;

/** A note that is a link is another's file; one that is a FIFO would hold the call. */
const NO_FOLLOW_NO_BLOCK = O_NOFOLLOW | O_NONBLOCK;

/**
 * Takes the lock.
 *
 * @returns what gives it back
 * @throws LockTimeout, SystemError
 */
export function lock(request: LockRequest, makeDirectories: (path: string) => void): () => void {
  touch(request.file);
  const { file, directory } = request;
  try {
    if (directory !== undefined) {
      makeDirectories(directory);
      return waitFor(`${directory}/lock`, `${directory}/lock.holder`, request);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
  // Our own directory does not take it: it is beside the reference's lock file, under a name that means nothing to it.
  return waitFor(file.replace(/[^/]*$/, ".host-local-lock"), undefined, request);
}

function waitFor(path: string, note: string | undefined, request: LockRequest): () => void {
  const deadline = performance.now() + request.timeout;
  for (let wait = 2; ; wait = Math.min(wait * 1.5, LONGEST_PAUSE)) {
    const unlock = isHeld(path) ? undefined : tryLock(path);
    if (unlock !== undefined) {
      if (note !== undefined) writeNote(note, request.holder);
      return unlock;
    }
    const left = deadline - performance.now();
    if (left <= 0) throw new LockTimeout(path, note && readNote(note));
    // Hundreds may wait: they must not all come back at once, nor spend the time of the one that holds it.
    pause(Math.min(left, wait * (0.5 + Math.random())));
  }
}

/** The reference's lock file, which it expects to find; nothing is written to it, and none is made behind a link. */
function touch(path: string): void {
  // Without O_NONBLOCK a FIFO would hold the call.
  const flags = O_RDONLY | O_NONBLOCK;
  try {
    closeAtOnce(path, flags | O_CREAT | O_NOFOLLOW);
  } catch (error) {
    if (!isSystemError(error, "ELOOP")) throw error;
    closeAtOnce(path, flags);
  }
}

function closeAtOnce(path: string, flags: number): void {
  systemCall("open", path, () => fs.closeSync(fs.openSync(path, flags, 0o750)));
}

function tryLock(path: string): (() => void) | undefined {
  let taken: bigint | undefined;
  const guarded = {
    ...fs,
    // What stands behind a link is not looked at, nor dated.
    statSync: fs.lstatSync,
    utimesSync: fs.lutimesSync,
    /** A lock that went stale under us may be another's by now: then its date is not ours, and it stays. */
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
    return () => releaseQuietly(release);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ELOCKED") return undefined;
    throw new SystemError("mkdir", path, code);
  }
}

function modified(path: string): bigint {
  return fs.statSync(path, { bigint: true }).mtimeNs;
}

/** The work is done; a lock that cannot be removed goes stale by itself. */
function releaseQuietly(release: () => void): void {
  try {
    release();
  } catch (error) {
    errnoOf(error);
  }
}

/** A look that costs less than a try. A lock dated in the future would never go stale; dated now, it is as any other. */
function isHeld(path: string): boolean {
  // Read before the look: where the machine is so busy that time passes in between, the lock must not look older.
  const earliest = Date.now();
  const found = lookAt(path);
  if (found === undefined) return false;
  // Nobody holds what is no lock, and nobody would ever give it back.
  if (!found.isDirectory()) throw new SystemError("mkdir", path, "ENOTDIR");
  const now = Date.now();
  if (found.mtimeMs > now + FURTHEST_AHEAD) dateQuietly(path, now / 1000);
  return found.mtimeMs >= earliest - STALE;
}

function lookAt(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    errnoOf(error);
    return undefined;
  }
}

/** Whoever gave the lock back meanwhile has it done. */
function dateQuietly(path: string, seconds: number): void {
  try {
    fs.lutimesSync(path, seconds, seconds);
  } catch (error) {
    errnoOf(error);
  }
}

/** Says who took the lock last; only ever shown to people, so a failure does not matter. */
function writeNote(path: string, holder: string): void {
  const flags = O_WRONLY | O_CREAT | O_TRUNC | NO_FOLLOW_NO_BLOCK;
  try {
    const file = fs.openSync(path, flags, 0o600);
    try {
      fs.writeFileSync(file, `process ${process.pid} (${holder})`);
    } finally {
      fs.closeSync(file);
    }
  } catch (error) {
    errnoOf(error);
  }
}

function readNote(path: string): string | undefined {
  try {
    return fs.readFileSync(path, {
      encoding: "utf8",
      flag: O_RDONLY | NO_FOLLOW_NO_BLOCK,
    });
  } catch (error) {
    errnoOf(error);
    return undefined;
  }
}
