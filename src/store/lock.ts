/** The lock of a network: one call at a time changes its reservations. */

import { CniError, ErrorCode, internalError } from "../cni/error.ts";
import { withTrace } from "../cni/trace.ts";
import type { Reuse } from "../ipam/config.ts";
import { isSystemError, LockTimeout, type System } from "../system/system.ts";
import type { Location } from "./files/paths.ts";
import { withSafeStateDirectory } from "./files/state-directory.ts";
import { type HistoryCall, keepHistory } from "./history/history-file.ts";
import { type Change, Store } from "./locked-network.ts";

/** Who takes the lock, and how long to wait for it. */
export interface LockOptions {
  /** What is done under the lock, such as `ADD c1 eth0`; shown in the error of a call that times out. */
  readonly holder: string;
  readonly timeoutSeconds: number;
  /** How the call is described in the history; `undefined` where none is kept. */
  readonly history?: HistoryCall | undefined;
  /** How addresses are used again; `undefined` where the network's configuration is not known. */
  readonly reuse?: Reuse | undefined;
}

/**
 * Runs `body` under the lock; the first call of a network makes its directory.
 *
 * @throws CniError 11 on timeout; 999 with the reference's message where the lock cannot be taken
 * @throws SystemError where the directory cannot be made
 */
export function withLock<T>(
  system: System,
  location: Location,
  options: LockOptions,
  body: (store: Store) => T,
): T {
  const safe = withSafeStateDirectory(system, location);
  let unlock: () => void;
  try {
    unlock = acquire(system, safe, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    system.makeDirectories(location.directory);
    unlock = acquireOrExplain(system, safe, options);
  }
  return runUnder(unlock, system, safe, options, body);
}

/**
 * As `withLock`, but runs `body` without the lock where the disk does not allow one (full, read-only). Only for
 * removing reservations by `releaseAll`, which checks each one again; reserving requires the lock.
 *
 * @throws CniError 11 on timeout
 */
export function withLockIfPossible<T>(
  system: System,
  location: Location,
  options: LockOptions,
  body: (store: Store) => T,
): T {
  const safe = withSafeStateDirectory(system, location);
  const unlock = acquireOrIgnore(isSystemError, system, safe, options);
  return runUnder(unlock, system, safe, options, body);
}

/** As `withLockIfPossible`, and without the lock on timeout, too: for what cannot be postponed. */
export function withOrWithoutLock<T>(
  system: System,
  location: Location,
  options: LockOptions,
  body: (store: Store) => T,
): T {
  const mayIgnore = (error: unknown): boolean => isSystemError(error) || error instanceof CniError;
  const safe = withSafeStateDirectory(system, location);
  const unlock = acquireOrIgnore(mayIgnore, system, safe, options);
  return runUnder(unlock, system, safe, options, body);
}

/** Takes the lock; `undefined` where that fails with an error that may be ignored. */
function acquireOrIgnore(
  mayIgnore: (error: unknown) => boolean,
  system: System,
  location: Location,
  options: LockOptions,
): (() => void) | undefined {
  try {
    return acquire(system, location, options);
  } catch (error) {
    if (!mayIgnore(error)) throw error;
    return undefined;
  }
}

function acquire(system: System, location: Location, options: LockOptions): () => void {
  try {
    return system.lock({
      file: location.lockFile,
      directory: location.usesStateDirectory ? location.stateDirectory : undefined,
      holder: options.holder,
      timeout: options.timeoutSeconds * 1000,
    });
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    const holder = withTrace(error.holder ?? "another process", ", ", error.traceparent);
    throw new CniError(
      ErrorCode.tryAgainLater,
      `network ${location.network} is locked; gave up after ${options.timeoutSeconds} s`,
      `${location.lockFile} is held by ${holder}; nothing was changed. The timeout is ipam.lockTimeoutSeconds`,
    );
  }
}

function acquireOrExplain(system: System, location: Location, options: LockOptions): () => void {
  try {
    return acquire(system, location, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw internalError(error.reason, `${error.message}: the lock cannot be taken`);
  }
}

function runUnder<T>(
  unlock: (() => void) | undefined,
  system: System,
  location: Location,
  { history, reuse }: LockOptions,
  body: (store: Store) => T,
): T {
  let store: Store | undefined;
  try {
    const isLocked = unlock !== undefined;
    const changes: Change[] = [];
    store = new Store(system, location, isLocked, reuse, history && changes);
    try {
      return body(store);
    } finally {
      if (history !== undefined) keepHistory(store, history, changes, isLocked);
      store.close();
    }
  } finally {
    unlock?.();
    const warnings = store?.warnings ?? "";
    if (warnings !== "") system.writeStandardError(warnings);
  }
}
