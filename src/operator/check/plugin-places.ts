/** Where the runtime looks for the plugins of a network. */

import { join } from "../../store/files/paths.ts";
import { exists } from "../../system/system.ts";
import type { Configuration } from "../configured/configurations.ts";
import { mainPluginOf } from "../configured/main-plugin.ts";
import { makerOf } from "../configured/maker.ts";
import { existingPluginDirectories } from "../configured/plugin-directories.ts";
import { readRuntimes } from "../configured/runtimes.ts";
import { hasRootOfNode } from "../facts/outlook.ts";
import type { Node } from "../node.ts";

/** Where plugins are looked for. */
export interface PluginDirectories {
  readonly directories: readonly string[];
  /** The runtime that looks in these directories in turn, and says so; `undefined` where one may look elsewhere. */
  readonly runtime: string | undefined;
  /** Where a plugin that is missing everywhere is to be put. */
  readonly likely: string;
}

/**
 * The places where the plugins of a configuration are looked for: what its runtime says counts, else every known directory.
 *
 * @param names of these plugins
 * @returns `undefined` where nothing is known of those who read the file
 */
export function placesOf(
  { context: { system }, uses }: Node,
  { file, document }: Configuration,
  names: readonly string[],
): PluginDirectories | undefined {
  // Runtimes that use a network by its name, as podman does its own, look in directories of their own.
  const isOfOther = makerOf({ source: file.source, ...mainPluginOf(document) }) !== undefined;
  const isUsed = uses.get(file)?.kind === "used" && !isOfOther;
  const readers = readRuntimes(system).filter(
    ({ configurations }) => configurations === file.directory,
  );
  const [reader, ...others] = isUsed ? readers : [];
  const [first] = reader?.plugins ?? [];
  if (reader?.plugins !== undefined && first !== undefined && others.length === 0) {
    const directories = reader.plugins;
    // A container need not have the directories of the node.
    const isSeen =
      hasRootOfNode(system) || directories.some((directory) => exists(system, directory));
    if (isSeen) return { directories, runtime: reader.name, likely: first };
  }
  const known = existingPluginDirectories(system);
  const usual = known.filter(({ configurations }) => configurations === file.directory);
  // A runtime that reads another directory than usual looks for its plugins in any.
  const own = usual.length === 0 && readers.length > 0 ? known : usual;
  const hasSome = (directory: string): boolean =>
    names.some((name) => exists(system, join(directory, name)));
  const likely = own.find(({ directory }) => hasSome(directory)) ?? own[0];
  if (likely === undefined) return undefined;
  const directories = known.map(({ directory }) => directory);
  return { directories, runtime: undefined, likely: likely.directory };
}
