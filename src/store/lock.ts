/** The lock of a network: one call at a time changes its reservations. */

import { CniError, ErrorCode, internalError } from "../cni/error.ts";
import { withTrace } from "../cni/trace.ts";
import type { Reuse } from "../ipam/config.ts";
import { attempt, type Lock, LockTimeout, recover } from "../system/system.ts";
import type { NetworkFiles } from "./files/network-files.ts";
import type { HistoryCall } from "./history/history-file.ts";
import { LockedNetwork, PossiblyLockedNetwork } from "./locked-network.ts";

/** How to take the lock, and what is done under it. */
export interface LockOptions {
  /** How long to wait. */
  readonly timeoutSeconds: number;
  /** How the call is described in the history; `undefined` where there is none. */
  readonly history?: HistoryCall | undefined;
  /** How addresses are used again; `undefined` where the network's configuration is not known. */
  readonly reuse?: Reuse | undefined;
}

/**
 * Runs `body` under the lock; the first call of a network makes its directory.
 *
 * @throws CniError 11 on timeout; 999 with the Go plugin's message where the lock cannot be taken
 * @throws SystemError where the directory cannot be made
 */
export function withLock<T>(
  files: NetworkFiles,
  options: LockOptions,
  body: (network: LockedNetwork) => T,
): T {
  const takeOrExplain = (): Lock =>
    recover(
      () => take(files, options),
      ({ reason, message }) => {
        throw internalError(reason, `${message}: the lock cannot be taken`);
      },
    );
  const lock = attempt(() => take(files, options), undefined);
  if (lock === undefined) files.system.makeDirectories(files.directory);
  const held = lock ?? takeOrExplain();
  return runIn(new LockedNetwork(files, held, options.reuse), held, options, body);
}

/**
 * Runs `body` as `withLock` does, but without the lock where the disk does not allow one (full, read-only): to remove
 * reservations, each of which is read immediately before.
 *
 * @throws CniError 11 on timeout
 */
export function withLockIfPossible<T>(
  files: NetworkFiles,
  options: LockOptions,
  body: (network: PossiblyLockedNetwork) => T,
): T {
  const lock = attempt(() => take(files, options), undefined);
  return runIn(new PossiblyLockedNetwork(files, lock, options.reuse), lock, options, body);
}

function take({ system, network, lockFile, state }: NetworkFiles, options: LockOptions): Lock {
  const { timeoutSeconds } = options;
  try {
    const timeout = timeoutSeconds * 1000;
    return system.lock({ file: lockFile, directory: state?.path, timeout });
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    const other = withTrace(error.holder ?? "another process", ", ", error.traceparent);
    throw new CniError(
      ErrorCode.tryAgainLater,
      `network ${network} is locked; gave up after ${timeoutSeconds} s`,
      `${lockFile} is held by ${other}; nothing was changed. The timeout is ipam.lockTimeoutSeconds`,
    );
  }
}

/** What was changed is noted before the lock is released, and warnings are written after it. */
function runIn<N extends PossiblyLockedNetwork, T>(
  network: N,
  lock: Lock | undefined,
  { history }: LockOptions,
  body: (network: N) => T,
): T {
  let warnings = "";
  try {
    try {
      return body(network);
    } finally {
      warnings = network.close(history);
    }
  } finally {
    lock?.release();
    if (warnings !== "") network.files.system.writeStandardError(warnings);
  }
}
