/** The place of a plugin: its directory, and the files there. */

import { CommandError } from "../../cli/command/command.ts";
import { type FileId, fileIdOf } from "../../store/files/fingerprint.ts";
import { cleanPath, join, parentOf } from "../../store/files/paths.ts";
import { attempt, LARGEST_FILE, type System } from "../../system/system.ts";
import { INSTALLED, identityOf, PLUGIN } from "../configured/plugin-directories.ts";
import { shellCommand } from "../next-command.ts";

/** The paths of a plugin. */
export interface PluginPlace {
  /** The name of the plugin, and of its file. */
  readonly name: string;
  /** The plugin directory. */
  readonly directory: string;
  /** The plugin. */
  readonly target: string;
  /** The other plugin that was replaced last; never a version of this program. */
  readonly previous: string;
  /**
   * The file that says, from the end of an installation until a removal begins, that this program is installed, see `isMarker`.
   */
  readonly marker: string;
}

/** The place of a plugin in a plugin directory. */
export function placeIn(path: string, name: string): PluginPlace {
  const directory = cleanPath(path);
  const target = join(directory, name);
  const [previous, marker] = [`${target}.previous`, `${target}${INSTALLED}`];
  return { name, directory, target, previous, marker };
}

/** The bit of a mode by which everybody may write, see inode(7). */
const WRITABLE_BY_ALL = 0o002;

/** @throws CommandError if everybody may write to a directory; also where it is sticky, as /tmp: a plugin may be anybody's file */
export function requireProtected(system: System, { directory }: PluginPlace): void {
  const mode = attempt(() => system.openFile(directory, 0).mode, 0, "ENOENT");
  if ((mode & WRITABLE_BY_ALL) === 0) return;
  throw new CommandError(
    `install: everybody may write to ${directory}, and what is there runs as root; nothing was changed. Forbid it with: ${shellCommand(["chmod", "o-w", directory])}`,
  );
}

/** The files of the package of this program, see dpkg(1); one in each line. */
const FILES_OF_PACKAGE = `/var/lib/dpkg/info/${PLUGIN}.list`;

/**
 * @throws CommandError if there is no directory, one is in place of the plugin, or the plugin is a file of this program's
 *   `.deb`, by whatever name of the directory
 */
export function requireUnpackaged(system: System, { name, directory, target }: PluginPlace): void {
  const own = identityOf(system, directory);
  if (own === undefined) throw new CommandError(`install: there is no directory ${directory}`);
  // Container engines make a directory in place of a missing file that they are to mount.
  if (attempt(() => system.linkStatus(target).kind === "directory", false)) {
    throw new CommandError(
      `install: ${target} is a directory; nothing was changed. Remove it with: ${shellCommand(["rmdir", target])}`,
    );
  }
  const files = attempt(() => system.readFile(FILES_OF_PACKAGE, LARGEST_FILE), "").split("\n");
  const isHere = (file: string) => identityOf(system, parentOf(file)) === own;
  if (!files.some((file) => file.endsWith(`/${name}`) && isHere(file))) return;
  throw new CommandError(
    `install: ${target} is of the package ${PLUGIN}; nothing was changed. Remove it with: dpkg --remove ${PLUGIN}`,
  );
}

/** Which file, or symbolic link, is at a path; `undefined` where nothing is. */
export function fileAt(system: System, path: string): FileId | undefined {
  return attempt(() => fileIdOf(system.linkStatus(path)), undefined, "ENOENT", "ENOTDIR");
}
