/** `flock(2)` on the lock file of the Go plugin, which the native executable locks, too. */

import fs from "node:fs";
import { getSystemErrorName } from "node:util";
import { flockTimeout } from "../flock-holder.ts";
import { attempt, isSystemError, type LockRequest, type System, SystemError } from "../system.ts";
import type { CLibrary } from "./c-library.ts";
import { quietly, systemCall } from "./system-call.ts";

const LOCK_EX = 2;
const LOCK_NB = 4;
const EINTR = 4;
const EAGAIN = 11;

/** EINVAL, ENOLCK, ENOSYS and EOPNOTSUPP: what file systems without `flock(2)` answer. */
const REFUSALS = [22, 37, 38, 95];

/** The longest wait, in milliseconds: some weeks. */
const LONGEST_WAIT = 2 ** 31 - 1;

/** How often a lock file that was removed meanwhile is opened again. */
const MOST_LOCK_FILES = 10;

/** How an attempt ends; where the file was removed during the wait, others lock the new one. */
type Outcome = "locked" | "removed" | "late" | "refused";

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
  const deadline = performance.now() + Math.min(timeout, LONGEST_WAIT);
  for (let tries = 0; tries < MOST_LOCK_FILES; tries++) {
    const descriptor = openLockFile(file);
    // The lock is released when the process exits, whatever goes wrong.
    const close = (): void => quietly(() => fs.closeSync(descriptor));
    let outcome: Outcome = "removed";
    try {
      const end = waitFor(library, descriptor, file, deadline);
      if (end !== "locked" || isNamed(system, file, descriptor)) outcome = end;
    } finally {
      if (outcome !== "locked") close();
    }
    if (outcome === "locked") return close;
    if (outcome === "refused") return undefined;
    if (outcome === "late") break;
  }
  throw flockTimeout(system, file);
}

/**
 * Opens the Go plugin's lock file, which is created where it is missing, and stays empty. A symbolic link to an existing
 * file is followed, as by the Go plugin; no file is made through one.
 *
 * @throws SystemError
 */
export function openLockFile(path: string): number {
  // Without O_NONBLOCK a FIFO would block the call.
  const flags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
  const open = (more: number): number =>
    systemCall("open", path, () => fs.openSync(path, flags | more, 0o600));
  try {
    return open(fs.constants.O_CREAT | fs.constants.O_NOFOLLOW);
  } catch (error) {
    if (!isSystemError(error, "ELOOP")) throw error;
    return open(0);
  }
}

function waitFor(library: CLibrary, descriptor: number, path: string, deadline: number): Outcome {
  let errno = library.flock(descriptor, LOCK_EX | LOCK_NB);
  while (errno === EINTR) errno = library.flock(descriptor, LOCK_EX | LOCK_NB);
  if (errno !== EAGAIN) return outcomeOf(errno, path);
  try {
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) return "late";
      library.interruptAfter(left);
      const errno = library.flock(descriptor, LOCK_EX);
      if (errno !== EINTR) return outcomeOf(errno, path);
    }
  } finally {
    library.stopInterrupting();
  }
}

/** @throws SystemError where the lock was neither taken nor is refused by the file system */
function outcomeOf(errno: number, path: string): Outcome {
  if (errno === 0) return "locked";
  if (REFUSALS.includes(errno)) return "refused";
  throw new SystemError("flock", path, getSystemErrorName(-errno));
}

/** Whether the locked file is still the one at its path. */
function isNamed(system: Pick<System, "status">, path: string, descriptor: number): boolean {
  const locked = systemCall("fstat", path, () => fs.fstatSync(descriptor, { bigint: true }));
  const named = attempt(() => system.status(path), undefined, "ENOENT");
  return named?.device === locked.dev && named.inode === locked.ino;
}
