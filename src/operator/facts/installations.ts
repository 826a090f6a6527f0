/** Since when this program is installed as the plugin `host-local`, and where there is another one of that name. */

import { join } from "../../store/files/paths.ts";
import { attempt, exists, type System } from "../../system/system.ts";
import {
  existingPluginDirectories,
  INSTALLED,
  markedNames,
  PLUGIN,
} from "../configured/plugin-directories.ts";

/** The plugins of this name in the known plugin directories. */
export interface Installations {
  /** When this program was last installed in one of them, in milliseconds since the epoch; `undefined` where it was in none. */
  readonly since: number | undefined;
  /** The directories that have one, and in which this program was not installed. */
  readonly others: readonly string[];
}

/** Reads where the plugin is. */
export function readInstallations(system: System): Installations {
  const directories = existingPluginDirectories(system).map(({ directory }) => directory);
  const isOwn = (directory: string): boolean => markedNames(system, directory).includes(PLUGIN);
  const own = new Set(directories.filter(isOwn));
  const dates = [...own].flatMap((directory) =>
    attempt(() => [system.status(join(directory, `${PLUGIN}${INSTALLED}`)).modified], []),
  );
  return {
    since:
      dates.length === 0 ? undefined : Math.max(...dates.map((date) => Number(date / 1_000_000n))),
    others: directories.filter(
      (directory) => !own.has(directory) && exists(system, join(directory, PLUGIN)),
    ),
  };
}
