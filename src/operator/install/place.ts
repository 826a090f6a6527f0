/** The place of a plugin: its directory, and the files there. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { cleanPath, join, parentOf } from "../../store/files/paths.ts";
import { attempt, type FileKind, type System } from "../../system/system.ts";
import {
  directoriesWithPlugin,
  existingPluginDirectories,
  markerText,
  PLUGIN,
  type PluginDirectory,
} from "../configured/plugin-directories.ts";
import { shellCommand } from "../next-command.ts";
import { replaceByFile } from "../temporary-files.ts";

/** Where a plugin is installed if there is none on the node: the default of containerd and CRI-O. */
export const DEFAULT_DIRECTORY = "/opt/cni/bin";

/** The paths of a plugin. */
export interface Place {
  /** The name of the plugin, and of its file. */
  readonly name: string;
  /** The plugin directory. */
  readonly directory: string;
  /** The plugin. */
  readonly target: string;
  /** The other plugin that was replaced last; never a version of this program. */
  readonly previous: string;
  /** Present from the end of an installation until a removal begins. */
  readonly marker: string;
}

/** The place of a plugin in a plugin directory. */
export function placeIn(directory: string, name: string = PLUGIN): Place {
  return {
    name,
    directory,
    target: join(directory, name),
    previous: join(directory, `${name}.previous`),
    marker: join(directory, `${name}.installed`),
  };
}

/** The bit of a mode by which everybody may write, see inode(7). */
const WRITABLE_BY_OTHERS = 0o002;

/**
 * The plugin directory that the operand names; without one, the only one of the node with a `host-local`, or
 * `/opt/cni/bin` if there is none.
 *
 * @throws CommandError if there is no such directory, there are several, or everybody may write to it
 */
export function chosenDirectory(context: Context): string {
  const directory = existingDirectory(context);
  const { mode } = context.system.openFile(directory, 0);
  if ((mode & WRITABLE_BY_OTHERS) === 0) return directory;
  // Also where it is sticky, as /tmp: a former plugin may be anybody's file.
  throw new CommandError(
    `install: everybody may write to ${directory}, and what is there runs as root; nothing was changed. Forbid it with: ${shellCommand(["chmod", "o-w", directory])}`,
  );
}

function existingDirectory({ system, operands: [operand], has }: Context): string {
  if (operand !== undefined) {
    const directory = cleanPath(operand);
    if (kindAt(system, directory) === "directory") return directory;
    throw new CommandError(
      `install: there is no directory ${directory}; expected the CNI plugin directory`,
    );
  }
  const found = directoriesWithPlugin(system);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.directory;
  if (only === undefined && kindAt(system, DEFAULT_DIRECTORY) === "directory") {
    return DEFAULT_DIRECTORY;
  }
  const reason =
    only === undefined
      ? `there is no directory ${DEFAULT_DIRECTORY}, and no host-local in another plugin directory`
      : "there is a host-local in several plugin directories";
  throw new CommandError(
    `install: ${reason}. Name the one that the runtime uses (host-local install DIR): bin_dir or bin_dirs in the configuration of containerd, plugin_dirs in that of CRI-O.`,
    choices(only === undefined ? existingPluginDirectories(system) : found, has),
  );
}

function choices(directories: readonly PluginDirectory[], has: Context["has"]): readonly string[] {
  const move = ["--uninstall"].filter(has);
  return directories.map(
    ({ directory, usedBy }) =>
      `${["  host-local install", directory, ...move].join(" ")}    # ${usedBy}`,
  );
}

/** The kind of file at a path, symbolic links followed. */
export function kindAt(system: System, path: string): FileKind | "nothing" {
  return attempt(() => system.status(path).kind, "nothing", "ENOENT", "ENOTDIR");
}

/** The text of the symbolic link at a path; `undefined` if there is none. */
export function linkAt(system: System, path: string): string | undefined {
  return attempt(() => system.readLink(path), undefined, "EINVAL", "ENOENT", "ENOTDIR");
}

/** Whether there is a file, or a symbolic link to wherever. */
export function isPresent(system: System, path: string): boolean {
  return kindAt(system, path) === "file" || linkAt(system, path) !== undefined;
}

/** @throws CommandError where a path of a place has something that is no file */
export function requireFiles(system: System, { target, previous, marker }: Place): void {
  for (const path of [target, previous, marker]) {
    if (["file", "nothing"].includes(kindAt(system, path))) continue;
    throw new CommandError(`install: ${path} is not a regular file`);
  }
}

/** The files of the package of this program, see dpkg(1); one in each line. */
const FILES_OF_PACKAGE = `/var/lib/dpkg/info/${PLUGIN}.list`;

/** The most bytes of it that are read. */
const LARGEST_LIST = 1024 * 1024;

/** @throws CommandError if a plugin is a file of the `.deb` of this program, by whatever name of its directory */
export function requireNoPackage(system: System, { name, directory, target }: Place): void {
  const files = attempt(() => system.readFile(FILES_OF_PACKAGE, LARGEST_LIST), "").split("\n");
  const own = identityOf(system, directory);
  const isOfPackage = files.some(
    (file) => file.endsWith(`/${name}`) && identityOf(system, parentOf(file)) === own,
  );
  if (own === undefined || !isOfPackage) return;
  throw new CommandError(
    `install: ${target} is of the package ${PLUGIN}; nothing was changed. Remove it with: dpkg --remove ${PLUGIN}`,
  );
}

/** `undefined` where nothing is. */
function identityOf(system: System, path: string): string | undefined {
  const status = attempt(() => system.status(path), undefined);
  return status === undefined ? undefined : `${status.device} ${status.inode}`;
}

/**
 * Says that this program is installed, which makes `--if-replaced` put it there again.
 *
 * @throws SystemError
 */
export function mark(system: System, { name, marker }: Place): void {
  const text = markerText(name);
  if (attempt(() => system.readFile(marker, text.length), undefined) === text) return;
  // Also a link is replaced: the plugin is installed already.
  replaceByFile(system, marker, text);
}

/**
 * Says that it is not any more.
 *
 * @throws SystemError
 */
export function unmark(system: System, { marker }: Place): void {
  attempt(() => system.unlink(marker), undefined, "ENOENT");
}
