/** Output to a file that others read at any time. */

import { CommandError } from "../../cli/command/command.ts";
import { parentOf } from "../../store/files/paths.ts";
import { attempt, type System } from "../../system/system.ts";
import { removeAbandoned, replaceByFile } from "./temporary-files.ts";

/**
 * Replaces a file atomically. Until it is complete it has a name that begins with a dot: the textfile collector of
 * node_exporter and node-feature-discovery ignore that.
 *
 * @param option the command and the option that name it, for the error
 * @throws CommandError if the path is something other than a regular file: a device, or a link to one, must stay
 */
export function replaceFile(system: System, option: string, path: string, text: string): void {
  const kind = attempt(() => system.linkStatus(path).kind, "file", "ENOENT");
  if (kind !== "file")
    throw new CommandError(`${option}: ${path} exists and is not a regular file`);
  attempt(() => removeAbandoned(system, parentOf(path)), undefined);
  replaceByFile(system, path, text);
}
