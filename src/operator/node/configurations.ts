/** The network configurations on this node that use this IPAM plugin: the directories they are in, and what they say. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import { isObject, type Json, type JsonObject } from "../../cni/json.ts";
import { SUPPORTED_VERSIONS } from "../../cni/version.ts";
import { cleanPath } from "../../store/files/paths.ts";
import { attempt, isSystemError, type System } from "../../system/system.ts";
import {
  type ConfigurationFile,
  type ConfigurationProblem,
  readConfigurationFiles,
} from "./configuration-files.ts";
import { flannelDelegate, isFlannel, isFlannelWithDefault } from "./flannel-delegate.ts";
import { knownPluginDirectories, pluginNames } from "./plugin-directories.ts";

/** Where runtimes and distributions keep network configurations, the most common place first. */
export const knownConfigurationDirectories: readonly string[] = [
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

/**
 * The directories to read: the one that was asked for, or those known ones that exist. A directory with two names is
 * listed once: on k3s, `/etc/cni/net.d` is often a link.
 *
 * @throws CommandError if `--conf-dir` names no directory
 */
export function configurationDirectories(context: Requested): readonly string[] {
  const { system } = context;
  const option = context.option("--conf-dir");
  if (option !== undefined) return [requireDirectory(system, "--conf-dir", option)];
  const requested = requestedConfigurationDirectory(context);
  const found = new Map<string, string>();
  const candidates = requested === undefined ? knownConfigurationDirectories : [requested];
  for (const directory of candidates.map(cleanPath)) {
    const identity = identityOf(system, directory);
    if (identity !== undefined && !found.has(identity)) found.set(identity, directory);
  }
  return [...found.values()];
}

/**
 * Reads the files of all these directories.
 *
 * @param problems receives what cannot be read
 * @throws CommandError if `--conf-dir` names no directory
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
 * @throws CommandError unless it exists
 */
export function requireDirectory(system: System, option: string, path: string): string {
  if (path === "") throw new CommandError(`${option}: expected a directory, found ""`);
  const clean = cleanPath(path);
  try {
    if (system.status(clean).kind === "directory") return clean;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CommandError(`${option}: ${path}: ${error.reason}`);
  }
  throw new CommandError(`${option}: ${path}: not a directory`);
}

/** `undefined` if nothing is there. */
function identityOf(system: System, path: string): string | undefined {
  const status = attempt(() => system.status(path), undefined, "ENOENT", "ENOTDIR");
  return status && `${status.device}:${status.inode}`;
}

/** A plugin's configuration as the runtime would send it. */
export interface Configuration {
  /** The path of its file. */
  readonly source: string;
  readonly document: JsonObject;
  /** The file of its network: another one where it has only a plugin of a list. */
  readonly file: ConfigurationFile;
}

/** What a plugin inherits from the list or the plugin that contains it. */
interface Inherited {
  readonly name: string;
  readonly version: string;
  /** In a plugin list, the name and version of the list win, as in libcni. */
  readonly isList: boolean;
}

/**
 * Finds the configurations that use this plugin.
 *
 * @param problems receives what is wrong with them
 * @param plugins the names by which they call the plugin
 */
export function configurationsIn(
  system: System,
  files: readonly ConfigurationFile[],
  problems: ConfigurationProblem[],
  plugins: ReadonlySet<string> = pluginNames(system),
): readonly Configuration[] {
  return files.flatMap((file) => {
    const found = pluginsOf(file, plugins);
    if (found.length > 0 && file.refusal !== undefined) {
      const problem = `no runtime can use it: ${file.refusal}`;
      problems.push({ source: file.source, problem });
    }
    return found.map(({ source, document }) => {
      const report = (problem: string) => problems.push({ source, problem });
      const sent = isFlannel(document) ? flannelDelegate(system, document, report) : document;
      return { source, document: sent, file };
    });
  });
}

function pluginsOf(
  { source, document, appended }: ConfigurationFile,
  names: ReadonlySet<string>,
): readonly Omit<Configuration, "file">[] {
  const list: Inherited = { ...inheritedFrom(document, NOTHING), isList: true };
  return [
    ...pluginsIn(document, names, NOTHING).map((plugin) => ({ source, document: plugin })),
    ...appended.flatMap((one) =>
      pluginsIn(one.document, names, list).map((plugin) => ({
        source: one.source,
        document: plugin,
      })),
    ),
  ];
}

const NOTHING: Inherited = { name: "", version: "", isList: false };

/**
 * The plugin configurations that use this IPAM plugin, at any depth: in a list, or as a delegate of multus or flannel.
 * Each has the name and the version of its network.
 *
 * @param names by which they may call it
 */
function pluginsIn(
  document: Json,
  names: ReadonlySet<string>,
  outermost: Inherited,
): readonly JsonObject[] {
  const found: JsonObject[] = [];
  const pending: [Json, Inherited][] = [[document, outermost]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, inherited] = next;
    if (Array.isArray(value)) {
      for (const one of value.toReversed()) pending.push([one, inherited]);
    } else if (isObject(value)) {
      const { name, version } = inheritedFrom(value, inherited);
      if (usesIpam(value, names)) found.push({ ...value, name, cniVersion: version });
      for (const [key, one] of Object.entries(value).toReversed()) {
        pending.push([one, { name, version, isList: key === "plugins" }]);
      }
    }
  }
  return found;
}

function inheritedFrom(value: Json, inherited: Inherited): Pick<Inherited, "name" | "version"> {
  return {
    name: choose(inherited, textOf(exactMember(value, "name")), inherited.name),
    version: choose(inherited, versionOf(value), inherited.version),
  };
}

function choose({ isList }: Inherited, own: string, inherited: string): string {
  return isList ? inherited || own : own || inherited;
}

/** A CNI 1.1 list may name several versions; the runtime uses the highest one that it knows. */
function versionOf(value: Json): string {
  const own = textOf(exactMember(value, "cniVersion"));
  const offered = listOf(exactMember(value, "cniVersions"));
  if (offered.length === 0) return own;
  const all = [...offered, own];
  return SUPPORTED_VERSIONS.findLast((version) => all.includes(version)) ?? own;
}

function usesIpam(plugin: JsonObject, names: ReadonlySet<string>): boolean {
  return (
    names.has(textOf(exactMember(exactMember(plugin, "ipam"), "type"))) ||
    isFlannelWithDefault(plugin)
  );
}
