/** The portable lock: a directory held by `proper-lockfile`. */

import fs from "node:fs";
import properLockfile from "proper-lockfile";
import { type LockRequest, LockTimeout, SystemError } from "../system.ts";
import { pause } from "./pause.ts";
import { errnoOf, systemCall } from "./system-call.ts";

/** The shortest staleness that proper-lockfile allows, in milliseconds: so long does a killed holder block others. */
const STALE = 2000;

/** proper-lockfile dates a fresh lock up to a second ahead; one further ahead is from before the clock was set back. */
const FURTHEST_AHEAD = 1500;

/** The longest pause between two tries, in milliseconds. */
const LONGEST_PAUSE = 20;

/**
 * Takes the lock.
 *
 * @returns what gives it back
 * @throws LockTimeout, SystemError
 */
export function lock(request: LockRequest, makeDirectories: (path: string) => void): () => void {
  const path = `${request.directory}/lock`;
  const note = `${path}.holder`;
  touch(request.file);
  makeDirectories(request.directory);
  const deadline = performance.now() + request.timeout;
  for (;;) {
    const unlock = tryLock(path);
    if (unlock !== undefined) {
      writeNote(note, request.holder);
      return unlock;
    }
    const left = deadline - performance.now();
    if (left <= 0) throw new LockTimeout(path, readNote(note));
    bringBackFromFuture(path);
    pause(Math.min(left, 1 + Math.random() * LONGEST_PAUSE));
  }
}

/** The reference's lock file, which it expects to find; nothing is written to it. */
function touch(path: string): void {
  systemCall("open", path, () => {
    fs.closeSync(fs.openSync(path, fs.constants.O_CREAT | fs.constants.O_RDONLY, 0o750));
  });
}

function tryLock(path: string): (() => void) | undefined {
  let taken: bigint | undefined;
  const guarded = {
    ...fs,
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

/** A lock dated in the future would never go stale; dated now, it blocks no longer than any other. */
function bringBackFromFuture(path: string): void {
  try {
    const now = Date.now();
    if (fs.statSync(path).mtimeMs > now + FURTHEST_AHEAD)
      fs.utimesSync(path, now / 1000, now / 1000);
  } catch (error) {
    errnoOf(error);
  }
}

/** Says who took the lock last; only ever shown to people, so a failure does not matter. */
function writeNote(path: string, holder: string): void {
  try {
    fs.writeFileSync(path, `process ${process.pid} (${holder})`, { mode: 0o600 });
  } catch (error) {
    errnoOf(error);
  }
}

function readNote(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch (error) {
    errnoOf(error);
    return undefined;
  }
}
