/** The network configurations on this node, as far as they use this IPAM plugin. */

import { isObject, type Json, type JsonObject, parseJson } from "../../cni/json.ts";
import { SUPPORTED_VERSIONS } from "../../cni/version.ts";
import { join } from "../../store/location.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { flannelRanges, isFlannelWithDefault } from "./flannel.ts";
import { listOf, member, textOf } from "./json-values.ts";

/** A plugin's configuration as the runtime would send it, with the file in which it stands. */
export interface Configuration {
  readonly source: string;
  readonly document: JsonObject;
}

/** What could not be understood, or only in part. */
export interface BadConfiguration {
  readonly source: string;
  readonly problem: string;
}

/** What a list of plugins, or a plugin that delegates, says for those inside. */
interface Surroundings {
  readonly name: string;
  readonly version: string;
  /** In a list of plugins its name and version win, as libcni has it. */
  readonly isList: boolean;
}

/** No configuration file is larger, in bytes. */
const LARGEST_FILE = 16 * 1024 * 1024;

/** As configurations name this plugin. */
const IPAM_TYPE = "host-local";

const SUFFIXES = [".conf", ".conflist", ".json"];

/**
 * Reads all configurations of a directory; one that cannot be understood does not hide the others.
 *
 * @param bad gets those that cannot be understood
 * @throws SystemError where the directory cannot be read
 */
export function readConfigurations(
  system: System,
  confDir: string,
  bad: BadConfiguration[],
): readonly Configuration[] {
  const names = system.list(confDir).filter((name) => SUFFIXES.some((end) => name.endsWith(end)));
  return names.toSorted().flatMap((name) => {
    const source = join(confDir, name);
    try {
      // libcni passes over directories, too.
      const { kind } = system.status(source);
      if (kind === "directory") return [];
      if (kind === "other") throw new SyntaxError("it is no regular file");
      const found = pluginsIn(parse(system, source));
      return found.map((plugin) => ({ source, document: withIpam(system, source, plugin, bad) }));
    } catch (error) {
      if (!(error instanceof SyntaxError || isSystemError(error))) throw error;
      bad.push({ source, problem: error.message });
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
    const hint = text.includes("{{") ? "; it may be a template, which the runtime fills in" : "";
    throw new SyntaxError(`it is not JSON: ${error.message}${hint}`);
  }
}

/**
 * The plugin configurations that use this IPAM plugin, wherever they stand: in a list, or as a delegate of multus or
 * flannel, at any depth. Each with the name and the version of its network.
 */
function pluginsIn(document: Json): readonly JsonObject[] {
  const found: JsonObject[] = [];
  const pending: [Json, Surroundings][] = [[document, { name: "", version: "", isList: false }]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, around] = next;
    if (Array.isArray(value)) {
      for (const one of value.toReversed()) pending.push([one, around]);
    } else if (isObject(value)) {
      const name = chosen(around, textOf(member(value, "name")), around.name);
      const version = chosen(around, versionOf(value), around.version);
      if (usesIpam(value)) found.push({ ...value, name, cniVersion: version });
      for (const [key, one] of Object.entries(value).toReversed()) {
        pending.push([one, { name, version, isList: key === "plugins" }]);
      }
    }
  }
  return found;
}

function chosen({ isList }: Surroundings, own: string, outer: string): string {
  return isList ? outer || own : own || outer;
}

/** A list of CNI 1.1 may name several versions; the runtime takes the highest. */
function versionOf(value: JsonObject): string {
  const offered = listOf(member(value, "cniVersions"));
  return (
    SUPPORTED_VERSIONS.findLast((version) => offered.includes(version)) ??
    textOf(member(value, "cniVersion"))
  );
}

function usesIpam(plugin: JsonObject): boolean {
  return (
    textOf(member(member(plugin, "ipam"), "type")) === IPAM_TYPE || isFlannelWithDefault(plugin)
  );
}

/** flannel writes the ranges of its delegate itself. */
function withIpam(
  system: System,
  source: string,
  plugin: JsonObject,
  bad: BadConfiguration[],
): JsonObject {
  if (textOf(member(plugin, "type")) !== "flannel") return plugin;
  const own = plugin.ipam ?? null;
  return {
    ...plugin,
    ipam: {
      ...(isObject(own) ? own : {}),
      type: IPAM_TYPE,
      ranges: rangesOf(system, source, plugin, bad),
    },
  };
}

function rangesOf(
  system: System,
  source: string,
  plugin: JsonObject,
  bad: BadConfiguration[],
): Json {
  try {
    return flannelRanges(system, plugin);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    bad.push({ source, problem: `the subnets of flannel are not known: ${error.message}` });
    return [];
  }
}
