/** Which plugin directory `install` works in. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { cleanPath } from "../../store/files/paths.ts";
import { shellCommand } from "../node/next-command.ts";
import {
  directoriesWithPlugin,
  existingPluginDirectories,
  type PluginDirectory,
} from "../node/plugin-directories.ts";
import { kindAt } from "./installation.ts";

/** Where a plugin is installed if there is none on the node: the default of containerd and CRI-O. */
export const DEFAULT_DIRECTORY = "/opt/cni/bin";

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
  const action = ["--rollback", "--uninstall"].filter(has);
  return directories.map(
    ({ directory, usedBy }) =>
      `${["  host-local install", directory, ...action].join(" ")}    # ${usedBy}`,
  );
}
