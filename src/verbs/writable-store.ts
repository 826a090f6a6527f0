/** The check of STATUS that reservations can be written. */

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
 * Checks that files can be created in the network's directory or, while that is missing, that it can be made in the
 * nearest existing directory above it. Creates nothing.
 *
 * @throws SystemError
 */
export function requireWritableStore({ system, directory }: NetworkFiles): void {
  let path = directory;
  let kind = kindAt(system, path);
  while (kind === undefined && path !== parentOf(path)) {
    path = parentOf(path);
    kind = kindAt(system, path);
  }
  if (kind !== undefined && kind !== "directory") throw new SystemError("mkdir", path, "ENOTDIR");
  system.requireWritable(path);
}

/** The kind of file at a path, links followed; a dangling link is `other`; `undefined` where there is nothing. */
function kindAt(system: System, path: string): FileKind | undefined {
  const kindBy = (statusOf: () => FileStatus): FileKind | undefined =>
    attempt(() => statusOf().kind, undefined, "ENOENT");
  // Another call may make the directory between these two.
  return kindBy(() => system.status(path)) ?? kindBy(() => system.linkStatus(path));
}
