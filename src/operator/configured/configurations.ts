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
  plugins: ReadonlySet<string>,
): readonly Configuration[] {
  return files.flatMap((file) => {
    const found = pluginsOf(file, plugins);
    if (file.refusal !== undefined && (found.length > 0 || mentions(file.document, plugins))) {
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

/**
 * Whether a document has one of these names anywhere: one that libcni refuses may have the plugin where it is not looked for.
 */
function mentions(document: Json, plugins: ReadonlySet<string>): boolean {
  const text = JSON.stringify(document);
  return [...plugins].some((name) => text.includes(`"${name}"`));
}

function pluginsOf(
  { source, document, appended }: ConfigurationFile,
  names: ReadonlySet<string>,
): readonly Omit<Configuration, "file">[] {
  const list: Inherited = { ...inheritedFrom(document, NOTHING), isList: true };
  return [
    ...pluginsIn(source, document, names, NOTHING),
    ...appended.flatMap((plugin) => pluginsIn(plugin.source, plugin.document, names, list)),
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
  source: string,
  document: Json,
  names: ReadonlySet<string>,
  outermost: Inherited,
): readonly Omit<Configuration, "file">[] {
  const found: Omit<Configuration, "file">[] = [];
  // Go's decoder reads 10 000 levels, for which the engine's own stack does not suffice.
  const pending: [Json, Inherited, string][] = [[document, outermost, ""]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, inherited, path] = next;
    if (Array.isArray(value)) {
      for (const [at, item] of [...value.entries()].toReversed()) {
        pending.push([item, inherited, `${path}[${at}]`]);
      }
    } else if (isObject(value)) {
      const { name, version } = inheritedFrom(value, inherited);
      if (usesIpam(value, names)) {
        found.push({ source, document: { ...value, name, cniVersion: version }, path });
      }
      for (const [key, member] of Object.entries(value).toReversed()) {
        pending.push([member, { name, version, isList: key === "plugins" }, memberPath(path, key)]);
      }
    }
  }
  return found;
}

function inheritedFrom(
  value: Json,
  { name, version, isList }: Inherited,
): Pick<Inherited, "name" | "version"> {
  const choose = (own: string, inherited: string): string =>
    isList ? inherited : own || inherited;
  return {
    name: choose(textOf(memberOf(value, "name")), name),
    version: choose(versionOf(value), version),
  };
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
