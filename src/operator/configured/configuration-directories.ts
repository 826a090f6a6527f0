/** The directories of network configurations on this node. */

import { type Context, OptionError } from "../../cli/command/command.ts";
import { cleanPath } from "../../store/files/paths.ts";
import { isSystemError, type System } from "../../system/system.ts";
import {
  type ConfigurationFile,
  type ConfigurationProblem,
  readConfigurationFiles,
} from "./configuration-files.ts";
import { identityOf, knownPluginDirectories } from "./plugin-directories.ts";
import type { Runtime } from "./runtime.ts";
import { readRuntimes } from "./runtimes.ts";

/** Where runtimes and distributions keep network configurations, the most common place first. */
const knownConfigurationDirectories: readonly string[] = [
  ...new Set(knownPluginDirectories.map(({ configurations }) => configurations)),
];

/** The errors of a path where there is no directory. */
const NO_DIRECTORY = ["ENOENT", "ENOTDIR"] as const;

/** What is read of a command's context: the environment and the options. */
export interface Requested {
  readonly system: System;
  readonly option: Context["option"];
}

/** The directory that was asked for, with `--conf-dir` or `$NETCONFPATH`; `undefined` for the known ones. */
export function requestedConfigurationDirectory({ system, option }: Requested): string | undefined {
  return option("--conf-dir") ?? (system.environment("NETCONFPATH") || undefined);
}

/** The runtimes that say which directory they read; none where one cannot be asked: that may read any. */
function runtimesOf(system: System): readonly Runtime[] {
  const found = readRuntimes(system);
  return found.kind === "seen" ? found.runtimes : [];
}

/** The directories to search: the one that was asked for, or those that runtimes read, and after them the known ones. */
export function candidateDirectories(context: Requested): readonly string[] {
  const requested = requestedConfigurationDirectory(context);
  if (requested !== undefined) return [requested];
  const read = runtimesOf(context.system).map(({ configurations }) => configurations);
  return [...new Set([...read, ...knownConfigurationDirectories])];
}

/** The runtimes by whose directories files are judged; none where nothing is known of them, or a directory was asked for. */
export function judgingRuntimes(context: Requested): readonly Runtime[] {
  const requested = requestedConfigurationDirectory(context);
  return requested === undefined ? runtimesOf(context.system) : [];
}

/** The runtimes that read a directory which this command does not. */
export function unheededRuntimes(context: Requested): readonly Runtime[] {
  const { system } = context;
  const own = configurationDirectories(context).map((one) =>
    identityOf(system, one, ...NO_DIRECTORY),
  );
  return runtimesOf(system).filter(({ configurations }) => {
    const identity = identityOf(system, configurations, ...NO_DIRECTORY);
    return identity !== undefined && !own.includes(identity);
  });
}

/**
 * The directories to read: those of the candidates that exist. A directory with two names is listed once: on k3s,
 * `/etc/cni/net.d` is often a link.
 *
 * @throws OptionError if `--conf-dir` names no directory
 */
export function configurationDirectories(context: Requested): readonly string[] {
  const { system } = context;
  const option = context.option("--conf-dir");
  if (option !== undefined) return [requireDirectory(system, "--conf-dir", option)];
  const found = new Map<string, string>();
  for (const directory of candidateDirectories(context).map(cleanPath)) {
    const identity = identityOf(system, directory, ...NO_DIRECTORY);
    if (identity !== undefined && !found.has(identity)) found.set(identity, directory);
  }
  return [...found.values()];
}

/**
 * Reads the files of all these directories.
 *
 * @param problems receives what cannot be read
 * @throws OptionError if `--conf-dir` names no directory
 * @throws SystemError if a directory cannot be read
 */
export function readAllFiles(
  context: Requested,
  problems: ConfigurationProblem[],
): readonly ConfigurationFile[] {
  return configurationDirectories(context).flatMap((directory) =>
    readConfigurationFiles(context.system, directory, problems),
  );
}

/**
 * The clean path of a directory that an option names.
 *
 * @throws OptionError unless it exists
 */
export function requireDirectory(system: System, option: string, path: string): string {
  if (path === "") throw new OptionError(`${option}: expected a directory, found ""`);
  const clean = cleanPath(path);
  try {
    if (system.status(clean).kind === "directory") return clean;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new OptionError(`${option}: ${path}: ${error.reason}`);
  }
  throw new OptionError(`${option}: ${path}: not a directory`);
}
