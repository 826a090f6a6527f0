/** Temporary files in directories of others. Their names are random: a process id is that of its namespace alone. */

import { OptionError } from "../cli/command/command.ts";
import { join, parentOf } from "../store/files/paths.ts";
import { removeQuietly } from "../store/files/temporary.ts";
import { attempt, recover, type System, SystemError } from "../system/system.ts";
import { PLUGIN } from "./configured/plugin-directories.ts";

/** A text that is another one each time it is read, see random(4). */
const UUID = "/proc/sys/kernel/random/uuid";

/** The form of the names. */
const TEMPORARY = new RegExp(`^\\.${PLUGIN}\\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);

/** How old a file is that nobody needs any more, in milliseconds: its process takes seconds. */
const ABANDONED_AFTER = 600_000;

/**
 * Lets `use` make a file under a name that no other process has, and rename it. What has the name afterwards is removed.
 *
 * @throws SystemError
 */
export function withTemporaryPath<T>(
  system: System,
  directory: string,
  use: (path: string) => T,
): T {
  const path = join(directory, `.${PLUGIN}.${system.readFile(UUID, 64).trim()}`);
  try {
    return use(path);
  } finally {
    // rename(2) keeps both names if they already were links to the same file.
    removeQuietly(system, path);
  }
}

/**
 * Replaces whatever is at a path by a file, in one step.
 *
 * @throws SystemError
 */
export function replaceByFile(system: System, path: string, text: string): void {
  withTemporaryPath(system, parentOf(path), (temporary) => {
    system.createFile(temporary, text, 0o644);
    system.rename(temporary, path);
  });
}

/**
 * Removes what killed processes left in a directory. Whether one of them runs cannot be known from here: it may be of
 * another container. Where the directory cannot be read, nothing is removed.
 */
export function removeAbandoned(system: System, directory: string): void {
  const oldest = BigInt(system.now() - ABANDONED_AFTER) * 1_000_000n;
  for (const name of attempt(() => system.list(directory), []).filter((entry) =>
    TEMPORARY.test(entry),
  )) {
    const path = join(directory, name);
    // The installation may have removed or renamed it. A link to a plugin has the plugin's mtime, but its own ctime.
    const status = attempt(() => system.linkStatus(path), undefined);
    if (status !== undefined && status.changed < oldest) removeQuietly(system, path);
  }
}

/**
 * Replaces a file atomically. Until it is complete it has a name that begins with a dot: the textfile collector of
 * node_exporter and node-feature-discovery ignore that.
 *
 * @param option the option that names it, for the error
 * @throws OptionError if the path is something other than a regular file: a device, or a link to one, must stay
 * @throws SystemError with this path
 */
export function replaceFile(system: System, option: string, path: string, text: string): void {
  const kind = attempt(() => system.linkStatus(path).kind, "file", "ENOENT");
  if (kind !== "file") throw new OptionError(`${option}: ${path} exists and is not a regular file`);
  removeAbandoned(system, parentOf(path));
  recover(
    () => replaceByFile(system, path, text),
    // The error names the path that was asked for: nobody knows the temporary one.
    ({ code }) => {
      throw new SystemError("open", path, code);
    },
  );
}
