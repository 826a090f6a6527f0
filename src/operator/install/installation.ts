/** Replaces executables atomically: runtimes may start them at any moment. */

import { join } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists, type FileKind, isSystemError } from "../../system/system.ts";
import { markerText, PLUGIN } from "../node/plugin-directories.ts";
import { isOurs } from "./ask-versions.ts";
import { temporaryPath, unlinkQuietly } from "./temporary-files.ts";

/** This executable, even if it was renamed or deleted. */
export const SELF = "/proc/self/exe";

/** The paths of an installation. */
export interface Installation {
  /** The name of the plugin, and of its file. */
  readonly name: string;
  /** The plugin directory. */
  readonly directory: string;
  /** The installed executable. */
  readonly target: string;
  /** The plugin that was there first, or the version of this one that was. */
  readonly previous: string;
  /** Another plugin that was put in place of this one, and replaced again. */
  readonly replaced: string;
  /** Present while this one is installed, under the name `host-local` only if there is no other plugin at `previous`. */
  readonly marker: string;
}

/** What a path leads to: nothing, some version of this executable, or another one. */
type PluginKind = "nothing" | "ours" | "other";

/** The installation of a plugin in a plugin directory. */
export function installationIn(directory: string, name: string = PLUGIN): Installation {
  return {
    name,
    directory,
    target: join(directory, name),
    previous: join(directory, `${name}.previous`),
    replaced: join(directory, `${name}.replaced`),
    marker: join(directory, `${name}.installed`),
  };
}

/** The kind of file at a path, symbolic links followed. */
export function kindAt(system: OperatorSystem, path: string): FileKind | "nothing" {
  try {
    return system.status(path).kind;
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENOTDIR")) return "nothing";
    throw error;
  }
}

/** What a path leads to; a symbolic link to a missing file leads to nothing. */
export function pluginKindAt(system: OperatorSystem, path: string): PluginKind {
  if (kindAt(system, path) === "nothing") return "nothing";
  return isOurs(system, path) ? "ours" : "other";
}

/**
 * Whether this program was installed, and another one is there now, or none. It was installed where there is a marker, or
 * a previous plugin that is another one; after a rollback, the previous plugin is this program.
 */
export function isReplaced(
  system: OperatorSystem,
  { target, previous, marker }: Installation,
): boolean {
  const isMarked = exists(system, marker);
  if (!(isMarked || exists(system, previous))) return false;
  if (pluginKindAt(system, target) === "ours") return false;
  return isMarked || pluginKindAt(system, previous) !== "ours";
}

/** The text of the symbolic link at a path; `undefined` if there is none. */
export function linkAt(system: OperatorSystem, path: string): string | undefined {
  try {
    return system.readLink(path);
  } catch (error) {
    if (isSystemError(error, "EINVAL", "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/**
 * The text of a symbolic link whose program is not here; `undefined` if there is none. In a container, the program may
 * exist on the node: the links of a snap lead to `/snap`.
 */
export function danglingLinkAt(system: OperatorSystem, path: string): string | undefined {
  return kindAt(system, path) === "nothing" ? linkAt(system, path) : undefined;
}

/** Whether there is a file, or a symbolic link to wherever, that a change has to keep. */
export function isPresent(system: OperatorSystem, path: string): boolean {
  return kindAt(system, path) === "file" || linkAt(system, path) !== undefined;
}

/**
 * Copies an executable to a temporary name and lets `publish` rename it. The temporary name is always removed.
 *
 * @throws SystemError
 */
export function withCopy<T>(
  system: OperatorSystem,
  source: string,
  directory: string,
  publish: (copy: string) => T,
): T {
  const copy = temporaryPath(system, directory, "new");
  try {
    system.copyFile(source, copy, 0o755);
    return publish(copy);
  } finally {
    unlinkQuietly(system, copy);
  }
}

/**
 * Where the file that is replaced belongs: the previous one, unless that is another plugin already, or a link to one that
 * is not visible here, which stays.
 *
 * @param path the file, or a link to it
 * @returns `undefined` if it is not to be kept, since it is a version of this executable
 */
export function backupPathFor(
  system: OperatorSystem,
  { previous, replaced }: Installation,
  path: string,
): string | undefined {
  const dangling = danglingLinkAt(system, previous);
  if (dangling === undefined && pluginKindAt(system, previous) !== "other") return previous;
  if (pluginKindAt(system, path) === "ours") return undefined;
  const link = danglingLinkAt(system, path);
  if (dangling !== undefined || link !== undefined) return link === dangling ? previous : replaced;
  // The same: an installation was killed between its two steps.
  return system.sameContent(previous, path) ? previous : replaced;
}

/**
 * Links the installed file to the place where it belongs once it is replaced. A concurrent installation may replace it at
 * any moment, so this is decided for the link.
 *
 * @returns the place, or `undefined` if it is not kept
 * @throws SystemError
 */
export function keepTarget(system: OperatorSystem, installation: Installation): string | undefined {
  const { directory, target } = installation;
  const temporary = linkTemporarily(system, directory, target);
  try {
    const place = backupPathFor(system, installation, temporary);
    if (place !== undefined) system.rename(temporary, place);
    return place;
  } finally {
    // rename(2) keeps both names if they already were links to the same file.
    unlinkQuietly(system, temporary);
  }
}

/**
 * Exchanges the target and the previous file; the target exists all the time.
 *
 * @throws SystemError
 */
export function exchange(
  system: OperatorSystem,
  { directory, target, previous }: Installation,
): void {
  if (kindAt(system, target) === "nothing") {
    system.rename(previous, target);
    return;
  }
  const temporary = linkTemporarily(system, directory, target);
  try {
    system.rename(previous, target);
    system.rename(temporary, previous);
  } finally {
    unlinkQuietly(system, temporary);
  }
}

/** Creates or removes the marker after a change. It is only for `check`: without it, everything else works. */
export function updateMarker(
  system: OperatorSystem,
  { name, target, previous, marker }: Installation,
): void {
  if (pluginKindAt(system, target) !== "ours") {
    unlinkQuietly(system, marker);
  } else if (name !== PLUGIN || pluginKindAt(system, previous) !== "other") {
    try {
      system.createFile(marker, markerText(name), 0o644);
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
}

/**
 * Links a file under a temporary name; copies it if the file system has no hard links. A symbolic link is made anew with
 * the same text: what it leads to may depend on being called by this name.
 */
function linkTemporarily(system: OperatorSystem, directory: string, path: string): string {
  const temporary = temporaryPath(system, directory, "kept");
  unlinkQuietly(system, temporary);
  const link = linkAt(system, path);
  if (link !== undefined) {
    system.symlink(link, temporary);
    return temporary;
  }
  try {
    system.link(path, temporary);
  } catch (error) {
    if (!isSystemError(error, "EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw error;
    system.copyFile(path, temporary, 0o755);
  }
  return temporary;
}
