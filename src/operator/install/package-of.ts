/** What a package has installed, only the package manager removes. */

import { CommandError } from "../../cli/command/command.ts";
import { attempt, type System } from "../../system/system.ts";
import { PLUGIN } from "../node/plugin-directories.ts";

/** The files of the package of this program, see dpkg(1); one in each line. */
const FILES = `/var/lib/dpkg/info/${PLUGIN}.list`;

/** The most bytes of it that are read. */
const LARGEST = 1024 * 1024;

/** @throws CommandError if a file is of the `.deb` of this program */
export function requireNoPackage(system: System, path: string): void {
  const files = attempt(() => system.readFile(FILES, LARGEST), "").split("\n");
  if (!files.includes(path)) return;
  throw new CommandError(
    `install: ${path} is of the package ${PLUGIN}; nothing was changed. Remove it with: dpkg --remove ${PLUGIN}`,
  );
}
