/** Whether reservations can be written: what an ADD needs of the network's directory. */

import type { NetworkFiles } from "../store/files/network-files.ts";
import { parentOf } from "../store/files/paths.ts";
import {
  attempt,
  type FileKind,
  type FileStatus,
  type System,
  SystemError,
} from "../system/system.ts";

/**
 * Checks that files can be created in the network's directory, and its lock file opened; or, while the directory is missing,
 * that it can be made in the nearest existing one above it. Creates nothing.
 *
 * @throws SystemError
 */
export function requireWritableStore({ system, directory, lockFile }: NetworkFiles): void {
  let path = directory;
  let kind = kindAt(system, path);
  while (kind === undefined && path !== parentOf(path)) {
    path = parentOf(path);
    kind = kindAt(system, path);
  }
  if (kind !== undefined && kind !== "directory") throw new SystemError("mkdir", path, "ENOTDIR");
  system.requireWritable(path);
  if (path === directory) requireOpenable(system, lockFile);
}

/** A lock file may be missing, or go meanwhile. A link is followed to what is there; a directory is no file. */
function requireOpenable(system: System, path: string): void {
  const kind = attempt(() => system.linkStatus(path).kind, undefined, "ENOENT");
  if (kind === "directory") throw new SystemError("open", path, "EISDIR");
  const open = (): void => system.requireOpenable(path, "read");
  if (kind === "file") attempt(open, undefined, "ENOENT");
  if (kind === "other") open();
}

/** The kind of file at a path, links followed; a dangling link is `other`; `undefined` where there is nothing. */
function kindAt(system: System, path: string): FileKind | undefined {
  const kindBy = (statusOf: () => FileStatus): FileKind | undefined =>
    attempt(() => statusOf().kind, undefined, "ENOENT");
  // Another call may make the directory between these two.
  return kindBy(() => system.status(path)) ?? kindBy(() => system.linkStatus(path));
}
