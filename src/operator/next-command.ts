/** Command lines for operators to run next, complete as printed. */

import { cacheOption } from "../cli/command/common-options.ts";
import { shellWord } from "../cli/output/shell-word.ts";
import { DEFAULT_DATA_DIR } from "../ipam/config.ts";
import type { NetworkFiles } from "../store/files/network-files.ts";
import {
  type Requested,
  requestedConfigurationDirectory,
} from "./configured/configuration-directories.ts";

/**
 * A command line for a shell. It has the options without which the command would not find what this one found: the
 * directories of configurations and of the cache if they were given, and the data directory unless it is the default.
 *
 * @param files where the network's reservations are; `undefined` if it concerns no network in particular
 * @param words the command, its operands and options
 * @example commandText(context, files, ["gc", "mynet"]); // "host-local gc mynet --data-dir /srv/networks"
 */
export function commandText(
  context: Requested,
  files: NetworkFiles | undefined,
  words: readonly [string, ...string[]],
): string {
  const confDir = requestedConfigurationDirectory(context);
  const usedDataDir = files?.dataDir === DEFAULT_DATA_DIR ? undefined : files?.dataDir;
  const dataDir = context.option("--data-dir") ?? usedDataDir;
  const cacheDir = context.option(cacheOption.name);
  return shellCommand([
    "host-local",
    ...words,
    ...(confDir === undefined ? [] : ["--conf-dir", confDir]),
    ...(dataDir === undefined ? [] : ["--data-dir", dataDir]),
    ...(cacheDir === undefined ? [] : [cacheOption.name, cacheDir]),
  ]);
}

/** Joins words to a command line, each quoted for a shell where that is necessary. */
export function shellCommand(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}
