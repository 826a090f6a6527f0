/** What a package has installed, only the package manager changes and removes. */

import { CommandError } from "../../cli/command/command.ts";
import { parentOf } from "../../store/files/paths.ts";
import { attempt, type System } from "../../system/system.ts";
import { PLUGIN } from "../node/plugin-directories.ts";
import type { Installation } from "./installation.ts";

/** The files of the package of this program, see dpkg(1); one in each line. */
const FILES = `/var/lib/dpkg/info/${PLUGIN}.list`;

/** The most bytes of it that are read. */
const LARGEST = 1024 * 1024;

/** @throws CommandError if a plugin is a file of the `.deb` of this program, by whatever name of its directory */
export function requireNoPackage(system: System, installation: Installation): void {
  const { name, directory, target } = installation;
  const files = attempt(() => system.readFile(FILES, LARGEST), "").split("\n");
  const own = identityOf(system, directory);
  const isOfPackage = files.some(
    (file) => file.endsWith(`/${name}`) && identityOf(system, parentOf(file)) === own,
  );
  if (own === undefined || !isOfPackage) return;
  throw new CommandError(
    `install: ${target} is of the package ${PLUGIN}; nothing was changed. Remove it with: dpkg --remove ${PLUGIN}`,
  );
}

/** `undefined` where no directory is. */
function identityOf(system: System, path: string): string | undefined {
  const status = attempt(() => system.status(path), undefined);
  return status === undefined ? undefined : `${status.device} ${status.inode}`;
}
