/** The network configurations on this node that use this IPAM plugin. */

import { listOf, member, textOf } from "../../cli/command/json-values.ts";
import { configurationNames } from "../../cni/configuration-files.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../cni/json.ts";
import { SUPPORTED_VERSIONS } from "../../cni/version.ts";
import { join } from "../../store/files/paths.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { flannelRanges, isFlannelWithDefault } from "./flannel.ts";
import { PLUGIN, pluginNames } from "./plugin-directories.ts";

/** A plugin's configuration as the runtime would send it. */
export interface Configuration {
  /** The path of its file. */
  readonly source: string;
  readonly document: JsonObject;
}

/** A configuration that is invalid, or that can be used only in part. */
export interface ConfigurationProblem {
  readonly source: string;
  readonly problem: string;
}

/** What a plugin inherits from the list or the plugin that contains it. */
interface Inherited {
  readonly name: string;
  readonly version: string;
  /** In a plugin list, the name and version of the list win, as in libcni. */
  readonly isList: boolean;
}

/** The largest configuration file, in bytes. */
const LARGEST_FILE = 16 * 1024 * 1024;

/**
 * Reads all configurations of a directory; an invalid one does not hide the others.
 *
 * @param problems receives what is wrong with them
 * @param plugins the names by which they call the plugin
 * @throws SystemError if the directory cannot be read
 */
export function readConfigurations(
  system: System,
  confDir: string,
  problems: ConfigurationProblem[],
  plugins: ReadonlySet<string> = pluginNames(system),
): readonly Configuration[] {
  return configurationNames(system.list(confDir)).flatMap((name) => {
    const source = join(confDir, name);
    try {
      // As libcni does.
      const { kind } = system.status(source);
      if (kind === "directory") return [];
      if (kind === "other") throw new SyntaxError("not a regular file");
      const found = pluginsIn(parse(system, source), plugins);
      return found.map((plugin) => ({
        source,
        document: withIpam(system, source, plugin, problems),
      }));
    } catch (error) {
      if (!(error instanceof SyntaxError || isSystemError(error))) throw error;
      problems.push({ source, problem: error.message });
      return [];
    }
  });
}

function parse(system: System, path: string): Json {
  const text = system.readFile(path, LARGEST_FILE);
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const hint = text.includes("{{") ? "; it may be a template that the runtime fills in" : "";
    throw new SyntaxError(`invalid JSON: ${error.message}${hint}`);
  }
}

/**
 * The plugin configurations that use this IPAM plugin, at any depth: in a list, or as a delegate of multus or flannel.
 * Each has the name and the version of its network.
 *
 * @param names by which they may call it
 */
function pluginsIn(document: Json, names: ReadonlySet<string>): readonly JsonObject[] {
  const found: JsonObject[] = [];
  const pending: [Json, Inherited][] = [[document, { name: "", version: "", isList: false }]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, inherited] = next;
    if (Array.isArray(value)) {
      for (const one of value.toReversed()) pending.push([one, inherited]);
    } else if (isObject(value)) {
      const name = choose(inherited, textOf(member(value, "name")), inherited.name);
      const version = choose(inherited, versionOf(value), inherited.version);
      if (usesIpam(value, names)) found.push({ ...value, name, cniVersion: version });
      for (const [key, one] of Object.entries(value).toReversed()) {
        pending.push([one, { name, version, isList: key === "plugins" }]);
      }
    }
  }
  return found;
}

function choose({ isList }: Inherited, own: string, inherited: string): string {
  return isList ? inherited || own : own || inherited;
}

/** A CNI 1.1 list may name several versions; the runtime uses the highest one. */
function versionOf(value: JsonObject): string {
  const offered = listOf(member(value, "cniVersions"));
  return (
    SUPPORTED_VERSIONS.findLast((version) => offered.includes(version)) ??
    textOf(member(value, "cniVersion"))
  );
}

function usesIpam(plugin: JsonObject, names: ReadonlySet<string>): boolean {
  return names.has(textOf(member(member(plugin, "ipam"), "type"))) || isFlannelWithDefault(plugin);
}

/** flannel sets the ranges of its delegate itself. */
function withIpam(
  system: System,
  source: string,
  plugin: JsonObject,
  problems: ConfigurationProblem[],
): JsonObject {
  if (textOf(member(plugin, "type")) !== "flannel") return plugin;
  const own = plugin.ipam ?? null;
  return {
    ...plugin,
    ipam: {
      ...(isObject(own) ? own : {}),
      type: PLUGIN,
      ranges: rangesOf(system, source, plugin, problems),
    },
  };
}

function rangesOf(
  system: System,
  source: string,
  plugin: JsonObject,
  problems: ConfigurationProblem[],
): Json {
  try {
    return flannelRanges(system, plugin);
  } catch (error) {
    if (!(isSystemError(error) || error instanceof CniError)) throw error;
    const reason = messageWithDetails(error);
    problems.push({ source, problem: `cannot read the subnets of flannel: ${reason}` });
    return [];
  }
}
