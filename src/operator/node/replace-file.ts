/** Output to a file that others read at any time. */

import { CommandError } from "../../cli/command/command.ts";
import { join, parentOf } from "../../store/files/paths.ts";
import { isSystemError, type System } from "../../system/system.ts";

/**
 * Replaces a file atomically. Until it is complete it has a name that begins with a dot: the textfile collector of
 * node_exporter and node-feature-discovery ignore that.
 *
 * @param option the command and the option that name it, for the error
 * @throws CommandError if the path is something other than a regular file: a device, or a link to one, must stay
 */
export function replaceFile(system: System, option: string, path: string, text: string): void {
  if (!isReplaceable(system, path)) {
    throw new CommandError(`${option}: ${path} exists and is not a regular file`);
  }
  const name = path.slice(path.lastIndexOf("/") + 1);
  const temporary = join(parentOf(path), `.${name}.${system.processId()}`);
  create(system, temporary, text);
  try {
    system.rename(temporary, path);
  } catch (error) {
    system.unlink(temporary);
    throw error;
  }
}

function isReplaceable(system: System, path: string): boolean {
  try {
    return system.linkStatus(path).kind === "file";
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return true;
    throw error;
  }
}

/** An existing file of this name was left by a killed process with the same id. */
function create(system: System, path: string, text: string): void {
  try {
    system.createFile(path, text, 0o644);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    system.unlink(path);
    system.createFile(path, text, 0o644);
  }
}
