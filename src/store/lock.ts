/** The lock of a network: one call at a time changes its reservations. */

import { CniError, ErrorCode, internalError } from "../cni/error.ts";
import { isSystemError, LockTimeout, type System } from "../system/system.ts";
import type { Location } from "./location.ts";
import { withSafeStateDirectory } from "./state-directory.ts";
import { Store } from "./store.ts";

/** For whom the lock is taken, and how long it is waited for. */
export interface LockOptions {
  /** What is done under the lock, such as `ADD c1 eth0`; others read it when they wait in vain. */
  readonly holder: string;
  readonly timeoutSeconds: number;
}

/**
 * Does `body` under the lock; a network's first call makes its directory.
 *
 * @throws CniError 11 where the lock stayed with another; 999 in the reference's bare words where it cannot be made
 * @throws SystemError where the directory cannot be made
 */
export function withLock<T>(
  system: System,
  location: Location,
  request: LockOptions,
  body: (store: Store) => T,
): T {
  const safe = withSafeStateDirectory(system, location);
  let unlock: () => void;
  try {
    unlock = acquire(system, safe, request);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    system.makeDirectories(location.directory);
    unlock = acquireAtLast(system, safe, request);
  }
  return during(unlock, system, safe, body);
}

/**
 * As `withLock`, but where the disk refuses the lock (full, read-only), `body` runs without it. Only for removing
 * reservations by `releaseAll`, which then looks at each once more; whoever reserves needs the lock.
 *
 * @throws CniError 11 where the lock stayed with another
 */
export function withLockIfPossible<T>(
  system: System,
  location: Location,
  request: LockOptions,
  body: (store: Store) => T,
): T {
  const safe = withSafeStateDirectory(system, location);
  return during(acquireUnless(isSystemError, system, safe, request), system, safe, body);
}

/** As `withLockIfPossible`, and without the lock where it stays with another: for what cannot be put off. */
export function withOrWithoutLock<T>(
  system: System,
  location: Location,
  request: LockOptions,
  body: (store: Store) => T,
): T {
  const isForgiven = (error: unknown): boolean => isSystemError(error) || error instanceof CniError;
  const safe = withSafeStateDirectory(system, location);
  return during(acquireUnless(isForgiven, system, safe, request), system, safe, body);
}

/** The lock, or nothing where it was refused for a reason that is forgiven. */
function acquireUnless(
  isForgiven: (error: unknown) => boolean,
  system: System,
  location: Location,
  request: LockOptions,
): (() => void) | undefined {
  try {
    return acquire(system, location, request);
  } catch (error) {
    if (!isForgiven(error)) throw error;
    return undefined;
  }
}

function acquire(system: System, location: Location, request: LockOptions): () => void {
  try {
    return system.lock({
      file: location.lockFile,
      directory: location.usesStateDirectory ? location.stateDirectory : undefined,
      holder: request.holder,
      timeout: request.timeoutSeconds * 1000,
    });
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    const holder = error.holder === undefined ? "another process" : error.holder;
    throw new CniError(
      ErrorCode.tryAgainLater,
      `network ${location.network} is locked; gave up after ${request.timeoutSeconds} s`,
      `${location.lockFile} is held by ${holder}; nothing was changed. The wait is ipam.lockTimeoutSeconds`,
    );
  }
}

function acquireAtLast(system: System, location: Location, request: LockOptions): () => void {
  try {
    return acquire(system, location, request);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw internalError(error.reason, `${error.message}: the lock cannot be taken`);
  }
}

function during<T>(
  unlock: (() => void) | undefined,
  system: System,
  location: Location,
  body: (store: Store) => T,
): T {
  let store: Store | undefined;
  try {
    store = new Store(system, location, unlock !== undefined);
    try {
      return body(store);
    } finally {
      store.close();
    }
  } finally {
    unlock?.();
    const warnings = store?.warnings ?? "";
    if (warnings !== "") system.writeStandardError(warnings);
  }
}
