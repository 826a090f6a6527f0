/** `flock(2)` on the reference's lock file: the lock of the Go plugin and of the native executable. */

import fs from "node:fs";
import { flockTimeout } from "../flock-holder.ts";
import { type FileStatus, isSystemError, type LockRequest, type System } from "../system.ts";
import type { CLibrary } from "./c-library.ts";
import { errnoOf, systemCall } from "./system-call.ts";

const LOCK_EX = 2;
const LOCK_NB = 4;
const EINTR = 4;
const EAGAIN = 11;

/** How often a lock file that was removed meanwhile is opened again. */
const MOST_LOCK_FILES = 10;

/**
 * Takes the lock, in the kernel's queue.
 *
 * @returns the function that releases it; `undefined` where the file system refuses `flock(2)`
 * @throws LockTimeout, SystemError
 */
export function lockFile(
  library: CLibrary,
  system: Pick<System, "status" | "readFile">,
  { file, timeout }: LockRequest,
): (() => void) | undefined {
  const deadline = performance.now() + timeout;
  for (let tries = 0; tries < MOST_LOCK_FILES; tries++) {
    const descriptor = openLockFile(file);
    const isOurs = attempt(descriptor, () => {
      const errno = waitFor(library, descriptor, deadline);
      if (errno === EAGAIN) throw flockTimeout(system, file);
      return errno === 0 ? isNamed(system, file, descriptor) : undefined;
    });
    if (isOurs) return () => closeQuietly(descriptor);
    closeQuietly(descriptor);
    if (isOurs === undefined) return undefined;
    // It was removed during the wait: others lock the new one.
  }
  throw flockTimeout(system, file);
}

/**
 * Opens the reference's lock file, which is created where it is missing, and stays empty. A symbolic link to an existing
 * file is followed, as by the reference; no file is made through one.
 *
 * @throws SystemError
 */
export function openLockFile(path: string): number {
  // Without O_NONBLOCK a FIFO would block the call.
  const flags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
  const open = (more: number): number =>
    systemCall("open", path, () => fs.openSync(path, flags | more, 0o750));
  try {
    return open(fs.constants.O_CREAT | fs.constants.O_NOFOLLOW);
  } catch (error) {
    if (!isSystemError(error, "ELOOP")) throw error;
    return open(0);
  }
}

/** Closes the file if `step` throws. */
function attempt<T>(descriptor: number, step: () => T): T {
  try {
    return step();
  } catch (error) {
    closeQuietly(descriptor);
    throw error;
  }
}

function closeQuietly(descriptor: number): void {
  try {
    fs.closeSync(descriptor);
  } catch (error) {
    errnoOf(error);
  }
}

/** Returns 0, EAGAIN on timeout, or the errno with which `flock(2)` is refused. */
function waitFor(library: CLibrary, descriptor: number, deadline: number): number {
  const errno = library.flock(descriptor, LOCK_EX | LOCK_NB);
  if (errno !== EAGAIN) return errno;
  try {
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) return EAGAIN;
      library.interruptAfter(left);
      const errno = library.flock(descriptor, LOCK_EX);
      if (errno !== EINTR) return errno;
    }
  } finally {
    library.stopInterrupting();
  }
}

/** Whether the locked file is still the one at its path. */
function isNamed(system: Pick<System, "status">, path: string, descriptor: number): boolean {
  const locked = systemCall("fstat", path, () => fs.fstatSync(descriptor, { bigint: true }));
  const named = statusOrMissing(system, path);
  return named?.device === locked.dev && named.inode === locked.ino;
}

function statusOrMissing(system: Pick<System, "status">, path: string): FileStatus | undefined {
  try {
    return system.status(path);
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    return undefined;
  }
}
