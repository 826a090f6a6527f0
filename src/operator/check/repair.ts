/** Repairs what is safe to repair: under the lock, after checking it again, and after a copy. */

import { type NetworkFiles, openNetwork } from "../../store/files/network-files.ts";
import { join } from "../../store/files/paths.ts";
import { removeQuietly } from "../../store/files/temporary.ts";
import { withLock } from "../../store/lock.ts";
import type { LockedNetwork } from "../../store/locked-network.ts";
import { cursorPath, readCursorText, removeCursor } from "../../store/reservations/cursor.ts";
import { isReclaimable } from "../../store/reservations/usage.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError, SystemError } from "../../system/system.ts";
import { readSeenDead, removeSeenDead, seenDeadPath } from "../gc/seen-dead.ts";
import { historyCall } from "../node/history-call.ts";
import type { NetworkDirectory } from "../node/network-directories.ts";
import type { Finding } from "./finding.ts";

/** What was done about findings; those that had changed in the meantime are missing. */
export type Repairs = Map<Finding, string>;

/**
 * Repairs what can be repaired in one network.
 *
 * @param backupDir the directory for copies; by default one in the state directory
 * @param done receives what was done, even if the rest fails
 * @throws CniError 11 if the lock is not free in time: nothing was changed
 * @throws SystemError if a copy cannot be made: nothing after that was changed
 */
export function repair(
  system: OperatorSystem,
  { location, networks: [network] }: NetworkDirectory,
  findings: readonly Finding[],
  backupDir: string | undefined,
  done: Repairs,
): void {
  const own = findings.filter(
    (one) => one.repair !== undefined && one.location?.directory === location.directory,
  );
  if (own.length === 0) return;
  const backup = backupOf(system, location, backupDir);
  const request = {
    holder: "host-local check --repair",
    timeoutSeconds: network.lockTimeoutSeconds,
    history: historyCall(system, network, "check"),
  };
  withLock(location, request, (network) => {
    for (const finding of own) {
      const action = repairOne(system, network, finding, backup);
      if (action !== undefined) done.set(finding, action);
    }
  });
}

/** Copies a file to the backup directory and returns the path of the copy. */
type Backup = (path: string, name: string) => string;

function backupOf(
  system: OperatorSystem,
  location: NetworkFiles,
  backupDir: string | undefined,
): Backup {
  const root =
    backupDir === undefined
      ? join(location.stateDirectory, "repaired")
      : join(backupDir, location.network);
  const time = new Date(system.now()).toISOString().replaceAll(/[-:]/g, "");
  const directory = join(root, time);
  return (path, name) => {
    if (backupDir === undefined) requireSound(system, location, root);
    system.makeDirectories(directory, 0o700);
    const copy = join(directory, name);
    system.copyFile(path, copy, 0o600);
    return copy;
  };
}

/** Copies must not follow a link in place of our own directories. */
function requireSound(system: OperatorSystem, location: NetworkFiles, root: string): void {
  try {
    const { state } = openNetwork(system, location.dataDir, location.network);
    if (state !== undefined && system.linkStatus(root).kind === "directory") return;
    throw new SystemError("mkdir", root, "ENOTDIR");
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
  }
}

function repairOne(
  system: OperatorSystem,
  network: LockedNetwork,
  { repair, path }: Finding,
  backup: Backup,
): string | undefined {
  const { files } = network;
  switch (repair?.kind) {
    case "reservation": {
      if (!isReclaimable(system, path)) return undefined;
      const copy = backup(path, repair.name);
      return network.reclaim(repair.name) ? `removed; copy: ${copy}` : undefined;
    }
    case "cursor": {
      if (textOf(files, repair.index) !== repair.text) return undefined;
      const copy = backup(cursorPath(files, repair.index), `last_reserved_ip.${repair.index}`);
      removeCursor(files, repair.index);
      return `removed; copy: ${copy}`;
    }
    case "leftover": {
      if (!files.abandonedFiles().includes(path)) return undefined;
      const copy = backup(path, `leftover-${path.slice(path.lastIndexOf("/") + 1)}`);
      removeQuietly(system, path);
      return `removed; copy: ${copy}`;
    }
    case "gc-state": {
      if (readSeenDead(files).length === 0) return undefined;
      const copy = backup(seenDeadPath(files), "seen-dead.json");
      removeSeenDead(files);
      return `removed; copy: ${copy}`;
    }
    default:
      return undefined;
  }
}

function textOf(files: NetworkFiles, index: number): string | undefined {
  try {
    return readCursorText(files, index);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
