/** The directories of network configurations on this node. */

import { type Context, OptionError } from "../../cli/command/command.ts";
import { cleanPath } from "../../store/files/paths.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { identityOf, knownPluginDirectories } from "./plugin-directories.ts";
import type { Runtime } from "./runtime.ts";
import { readRuntimes } from "./runtimes.ts";

/** Where runtimes and distributions keep network configurations, the most common place first. */
const knownDirectories: readonly string[] = [
  ...new Set(knownPluginDirectories.map(({ configurations }) => configurations)),
];

/** What is read of a command's context: the environment and the options. */
export interface Requested {
  readonly system: System;
  readonly option: Context["option"];
}

/** The directory that was asked for, with `--conf-dir` or `$NETCONFPATH`; `undefined` for the known ones. */
export function requestedConfigurationDirectory({ system, option }: Requested): string | undefined {
  return option("--conf-dir") ?? (system.environment("NETCONFPATH") || undefined);
}

/** Where the configurations of this node are looked for. */
export interface ConfigurationPlaces {
  /** The directories that were looked for: the one that was asked for, or those that runtimes read, and then the known ones. */
  readonly candidates: readonly string[];
  /** The directories of these that exist. One with two names is listed once: on k3s, `/etc/cni/net.d` is often a link. */
  readonly directories: readonly string[];
  /** The runtimes by whose directories files are judged; none where nothing is known of them, or a directory was asked for. */
  readonly runtimes: readonly Runtime[];
  /** The runtimes that read a directory which this command does not. */
  readonly unheeded: readonly Runtime[];
}

/**
 * Looks for these directories.
 *
 * @throws OptionError if `--conf-dir` names no directory
 */
export function findPlaces(context: Requested): ConfigurationPlaces {
  const { system } = context;
  const requested = requestedConfigurationDirectory(context);
  const all = readRuntimes(system);
  const read = all.map(({ configurations }) => configurations);
  const candidates =
    requested === undefined ? [...new Set([...read, ...knownDirectories])] : [requested];
  const option = context.option("--conf-dir");
  const searched =
    option === undefined
      ? candidates.map(cleanPath)
      : [requireDirectory(system, "--conf-dir", option)];
  const identify = (path: string): string | undefined =>
    identityOf(system, path, "ENOENT", "ENOTDIR");
  const directories = new Map<string, string>();
  for (const directory of searched) {
    const identity = identify(directory);
    if (identity !== undefined && !directories.has(identity)) directories.set(identity, directory);
  }
  return {
    candidates,
    directories: [...directories.values()],
    runtimes: requested === undefined ? all : [],
    unheeded: all.filter(({ configurations }) => {
      const identity = identify(configurations);
      return identity !== undefined && !directories.has(identity);
    }),
  };
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
