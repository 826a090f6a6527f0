/** The network configurations on this node that use this IPAM plugin, and what they say. */

import { exactMember, listOf, textOf } from "../../cli/command/json-values.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  memberPath,
  valueInAnyCase,
} from "../../cni/json.ts";
import { SUPPORTED_VERSIONS } from "../../cni/version.ts";
import type { System } from "../../system/system.ts";
import {
  type ConfigurationFile,
  type ConfigurationProblem,
  memberOf,
} from "./configuration-files.ts";
import { flannelDelegate, isFlannel, isFlannelWithDefault } from "./flannel-delegate.ts";
import { pluginNames } from "./plugin-directories.ts";

/** A plugin's configuration as the runtime would send it. */
export interface Configuration {
  /** The path of its file. */
  readonly source: string;
  readonly document: JsonObject;
  /** Where the plugin is in the document of `source`, such as `plugins[0]`; empty where it is that. */
  readonly path: string;
  /** The file of its network: another one where it has only a plugin of a list. */
  readonly file: ConfigurationFile;
}

/** What a plugin inherits from the list or the plugin that contains it. */
interface Inherited {
  readonly name: string;
  readonly version: string;
  /** Whether it is a plugin list, whose name and version win, as in libcni. */
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
    const isOwn = (): boolean =>
      found.length > 0 ||
      [...typesIn(file.document)].some((type) => plugins.has(type)) ||
      hasUnknownIpam(file.document);
    if (file.refusal !== undefined && isOwn()) {
      const problem = `no runtime can use it: ${file.refusal}`;
      problems.push({ source: file.source, problem });
    }
    return found.map(({ source, document, path }) => {
      const report = (problem: string) => problems.push({ source, problem });
      const sent = isFlannel(document) ? flannelDelegate(system, document, report) : document;
      return { source, document: sent, path, file };
    });
  });
}

/** Whether a plugin has `ipam` in a form that names no plugin: which one was meant is not known, and may be this one. */
function hasUnknownIpam(document: Json): boolean {
  const listed = valueInAnyCase(document, "plugins");
  const plugins = [document, ...(Array.isArray(listed) ? listed : [])];
  return plugins.some((one: Json) => {
    const ipam = valueInAnyCase(one, "ipam");
    if (ipam === undefined || ipam === null) return false;
    return !isObject(ipam) || typeof (valueInAnyCase(ipam, "type") ?? "") !== "string";
  });
}

function pluginsOf(
  { source, document, appended }: ConfigurationFile,
  names: ReadonlySet<string>,
): readonly Omit<Configuration, "file">[] {
  const list: Inherited = { ...inheritedFrom(document, NOTHING), isList: true };
  return [
    ...pluginsIn(document, names, NOTHING).map((plugin) => ({ source, ...plugin })),
    ...appended.flatMap((one) =>
      pluginsIn(one.document, names, list).map((plugin) => ({
        source: one.source,
        ...plugin,
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
): readonly Pick<Configuration, "document" | "path">[] {
  const found: Pick<Configuration, "document" | "path">[] = [];
  const pending: [Json, Inherited, string][] = [[document, outermost, ""]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, inherited, path] = next;
    if (Array.isArray(value)) {
      for (const [at, one] of [...value.entries()].toReversed()) {
        pending.push([one, inherited, `${path}[${at}]`]);
      }
    } else if (isObject(value)) {
      const { name, version } = inheritedFrom(value, inherited);
      if (usesIpam(value, names)) {
        found.push({ document: inOrderOfKeys({ ...value, name, cniVersion: version }), path });
      }
      for (const [key, one] of Object.entries(value).toReversed()) {
        pending.push([one, { name, version, isList: key === "plugins" }, memberPath(path, key)]);
      }
    }
  }
  return found;
}

/** Deeper than any key that is read. */
const DEEPEST = 8;

/** Orders the keys as libcni writes them for the plugin: of a key in two spellings, Go's decoder takes the last. */
function inOrderOfKeys(plugin: JsonObject, depth = 0): JsonObject {
  const entries = Object.entries<Json>(plugin).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, ordered(value, depth + 1)]));
}

function ordered(value: Json, depth: number): Json {
  if (depth === DEEPEST) return value;
  if (Array.isArray(value)) return value.map((one: Json) => ordered(one, depth + 1));
  return isObject(value) ? inOrderOfKeys(value, depth) : value;
}

function inheritedFrom(value: Json, inherited: Inherited): Pick<Inherited, "name" | "version"> {
  return {
    name: choose(inherited, textOf(memberOf(value, "name")), inherited.name),
    version: choose(inherited, versionOf(value), inherited.version),
  };
}

function choose({ isList }: Inherited, own: string, inherited: string): string {
  return isList ? inherited : own || inherited;
}

/** A CNI 1.1 list may name several versions; the runtime uses the highest one that it knows. */
function versionOf(value: Json): string {
  const own = textOf(memberOf(value, "cniVersion"));
  const offered = listOf(exactMember(value, "cniVersions"));
  const all = [...offered, own];
  return SUPPORTED_VERSIONS.findLast((version) => all.includes(version)) ?? own;
}

function usesIpam(plugin: JsonObject, names: ReadonlySet<string>): boolean {
  return (
    names.has(textOf(valueInAnyCase(valueInAnyCase(plugin, "ipam"), "type"))) ||
    isFlannelWithDefault(plugin)
  );
}

/** Every `type`, at any depth. */
function typesIn(document: Json): ReadonlySet<string> {
  const types = new Set<string>();
  const pending = [document];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== "object" || value === null) continue;
    types.add(textOf(valueInAnyCase(value, "type")));
    for (const one of Object.values<Json>(value)) pending.push(one);
  }
  return types;
}
