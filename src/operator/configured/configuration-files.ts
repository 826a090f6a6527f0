/** The files of a configuration directory, as libcni 1.3, the runtimes with it and nerdctl 2 read them. */

import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { configurationNames } from "../../cni/configuration-files.ts";
import { isObject, type Json, type JsonObject, parseJson, valueInAnyCase } from "../../cni/json.ts";
import { LARGEST_FILE } from "../../configuration/named-file.ts";
import type { Prefix } from "../../ipam/prefix.ts";
import { join } from "../../store/files/paths.ts";
import { attempt, isSystemError, type System } from "../../system/system.ts";
import type { NetworkFile } from "./file-in-use.ts";
import { whyInvalid } from "./invalid-json.ts";
import { expected, wrongTypeIn } from "./plugin-types.ts";

/** A file that configures one network. */
export interface ConfigurationFile extends NetworkFile {
  readonly document: Json;
  /** The plugins that libcni appends to its own, each of a file `NETWORK/*.conf` beside it. */
  readonly appended: readonly PluginFile[];
}

/** A file with one plugin of a list. */
interface PluginFile {
  readonly source: string;
  readonly document: JsonObject;
}

/** A configuration that is invalid, or that can be used only in part. */
export interface ConfigurationProblem {
  readonly source: string;
  readonly problem: string;
  /** The text of what could not be read as a configuration, empty where not even that could; `undefined` where it was read. */
  readonly unread?: string;
}

const NAMES = /"name"\s*:\s*"/i;

/**
 * Whether a network may be configured by a file that cannot be read, or that no runtime can use: by one that names it, or none.
 */
export function mayBeConfigured(
  network: string,
  files: readonly ConfigurationFile[],
  problems: readonly ConfigurationProblem[],
): boolean {
  const isNamed = ({ unread }: ConfigurationProblem): boolean =>
    unread !== undefined && (unread.includes(network) || !NAMES.test(unread));
  return (
    problems.some(isNamed) ||
    files.some((file) => file.refusal !== undefined && file.network === network)
  );
}

/** A configuration in libcni's cache: that of the network of an attachment, as it was at its ADD. */
export interface CachedConfiguration {
  /** The directory of the entry. */
  readonly directory: string;
  readonly document: Json;
  /** The addresses of the attachment, with the lengths of their prefixes. */
  readonly addresses: readonly Prefix[];
}

/** What libcni's cache has of configurations, the latest of each network. */
export interface ConfigurationCache {
  /** The configurations of the networks that multus attaches, which it has from the API server. */
  readonly multusConfigurations: readonly CachedConfiguration[];
  /** The configurations with which the runtime attached containers to a network; none where it did not. */
  readonly configurationsOf: (network: string) => readonly CachedConfiguration[];
}

const LIST_SUFFIX = ".conflist";

/** The keys of a list that are true or false, or one of these words. */
const BOOLEANS = ["disableCheck", "disableGC", "loadOnlyInlinedPlugins"] as const;

/** What libcni can compare with another version. */
const VERSION = /^(?:\d+(?:\.\d+){0,2})?$/;

/**
 * Reads all files of a directory that configure networks, in the order in which runtimes do, and after them those of the
 * namespaces of nerdctl: lists in a directory beside them. One that cannot be read does not hide the others.
 *
 * @param problems receives what cannot be read
 * @throws SystemError if the directory cannot be read
 */
export function readConfigurationFiles(
  system: System,
  directory: string,
  problems: ConfigurationProblem[],
): readonly ConfigurationFile[] {
  const names = system.list(directory);
  type Kind = ConfigurationFile["kind"];
  const read = (name: string, at: string, kind: Kind): readonly ConfigurationFile[] =>
    readFile(system, at, name, kind, problems);
  const own = configurationNames(names).flatMap((name) => read(name, directory, "file"));
  const unread = new Set(problems.map(({ source }) => source));
  const namespaces = names.filter(
    (name) => isIdentifier(name) && !unread.has(join(directory, name)),
  );
  const further = namespaces.toSorted().flatMap((namespace) => {
    const path = join(directory, namespace);
    return namesIn(system, path, problems)
      .filter((name) => name.endsWith(LIST_SUFFIX))
      .toSorted()
      .flatMap((name) => read(name, path, "namespaced"));
  });
  return [...own, ...further];
}

/**
 * The names in a directory: none where nothing is there, a link to itself, or another user's directory; what else cannot be
 * read may have networks.
 */
function namesIn(
  system: System,
  directory: string,
  problems: ConfigurationProblem[],
): readonly string[] {
  try {
    return attempt(() => system.list(directory), [], "ENOENT", "ENOTDIR", "ELOOP", "EACCES");
  } catch (error) {
    problems.push({ source: directory, problem: reasonOf(error), unread: "" });
    return [];
  }
}

/**
 * A member of a network or a plugin, as libcni reads it: of a list it decodes a map, in which a key is as it is written, of a
 * plugin a type of Go, whose keys are in any letter case.
 */
export function memberOf(value: Json, key: string): unknown {
  const isPlugin = valueInAnyCase(value, "type") !== undefined && !hasPlugins(value);
  return isPlugin ? valueInAnyCase(value, key) : exactMember(value, key);
}

function hasPlugins(value: Json): boolean {
  return exactMember(value, "plugins") !== undefined;
}

/** Plugins that call the networks of others: those of further files, or of objects of the API server. */
const CALLS_OTHERS = /"type":"[^"]*(?:multus|genie|danm|knitter)[^"]*"/i;

/** What decides on the use of a file, but for what libcni refuses. */
export function described(
  { source, directory, kind }: Pick<NetworkFile, "source" | "directory" | "kind">,
  document: Json,
): Omit<NetworkFile, "refusal"> {
  return {
    source,
    directory,
    kind,
    network: textOf(memberOf(document, "name")),
    isList: source.endsWith(LIST_SUFFIX),
    callsOthers: CALLS_OTHERS.test(JSON.stringify(document)),
  };
}

function readFile(
  system: System,
  directory: string,
  name: string,
  kind: ConfigurationFile["kind"],
  problems: ConfigurationProblem[],
): readonly ConfigurationFile[] {
  const source = join(directory, name);
  try {
    const document = readDocument(system, source);
    if (document === undefined) return [];
    const file = { ...described({ source, directory, kind }, document), document };
    return [{ ...file, ...(file.isList ? listIn(system, file) : pluginIn(document)) }];
  } catch (error) {
    const unread = error instanceof InvalidText ? error.text : "";
    problems.push({ source, problem: reasonOf(error), unread });
    return [];
  }
}

/** @throws unless it is a failure of the machine, or of the text */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError || isSystemError(error)) return error.message;
  throw error;
}

/**
 * @returns `undefined` for a directory, which libcni passes over
 * @throws SyntaxError | SystemError
 */
function readDocument(system: System, path: string): Json | undefined {
  const { kind } = system.status(path);
  if (kind === "directory") return undefined;
  if (kind === "other") throw new SyntaxError("not a regular file");
  const text = system.readFile(path, LARGEST_FILE);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvalidText(whyInvalid(text), text);
    throw error;
  }
}

/** Thrown for a file whose text is no configuration. */
class InvalidText extends SyntaxError {
  readonly text: string;

  constructor(message: string, text: string) {
    super(message);
    this.text = text;
  }
}

type Loaded = Pick<ConfigurationFile, "appended" | "refusal">;

/** A file with another suffix than a list has is one plugin (`ConfFromFile` of libcni). */
function pluginIn(document: Json): Loaded {
  const problem = pluginProblem(document, "");
  const hint = hasPlugins(document)
    ? `; a list of plugins belongs in a file with ${LIST_SUFFIX}`
    : "";
  return { appended: [], refusal: problem && `${problem}${hint}` };
}

/** What libcni itself reads of a plugin. */
function pluginProblem(plugin: Json, path: string): string | undefined {
  const wrongType = wrongTypeIn(plugin, path);
  if (wrongType !== undefined) return wrongType;
  const hasType = textOf(valueInAnyCase(plugin, "type")) !== "";
  return hasType ? undefined : "no type, which names the plugin";
}

/** A list, with the plugins that are in a directory of its name (`NetworkConfFromFile` of libcni). */
function listIn(
  system: System,
  { directory, document }: Pick<ConfigurationFile, "directory" | "document">,
): Loaded {
  const refusal = listProblem(document);
  const inlinedOnly = isTrue(exactMember(document, "loadOnlyInlinedPlugins"));
  const name = textOf(exactMember(document, "name"));
  // Of a list that has none of its own libcni knows nothing either.
  if (refusal !== undefined || inlinedOnly || name === "") return { appended: [], refusal };
  const { plugins, problem } = pluginsBeside(system, join(directory, name));
  if (problem !== undefined) return { appended: plugins, refusal: problem };
  const isEmpty = exactMember(document, "plugins") === undefined && plugins.length === 0;
  return {
    appended: plugins,
    refusal: isEmpty ? `no plugins, and none in ${join(directory, name)}/*.conf` : undefined,
  };
}

/** Why libcni refuses a list, as far as it is about the list itself; its name is checked with that of any network. */
function listProblem(document: Json): string | undefined {
  if (!isObject(document)) return expected("an object", "", document);
  const { name = "", cniVersion = "", cniVersions = [], plugins } = document;
  if (typeof name !== "string") return expected("a text", "name", name);
  if (typeof cniVersion !== "string") return expected("a text", "cniVersion", cniVersion);
  const areTexts =
    Array.isArray(cniVersions) && cniVersions.every((one) => typeof one === "string");
  if (!areTexts) return expected("a list of texts", "cniVersions", cniVersions);
  const compared = cniVersions.length === 0 ? [] : [...cniVersions, cniVersion];
  const wrong = compared.find((one) => !VERSION.test(textOf(one)));
  if (wrong !== undefined) return expected("a version such as 1.1.0", "cniVersions", wrong);
  for (const key of BOOLEANS) {
    const value = document[key];
    if (value === undefined || typeof value === "boolean") continue;
    const isWord = typeof value === "string" && /^(?:true|false)$/i.test(value);
    if (!isWord) return expected("true or false", key, value);
  }
  if (plugins === undefined) {
    const isRequired = isTrue(document.loadOnlyInlinedPlugins);
    return isRequired ? "no plugins, and loadOnlyInlinedPlugins leaves out all others" : undefined;
  }
  if (!Array.isArray(plugins) || plugins.length === 0) {
    return expected("a list of plugins, at least one", "plugins", plugins);
  }
  return plugins
    .map((plugin: Json, at) => pluginProblem(plugin, `plugins[${at}]`))
    .find((problem) => problem !== undefined);
}

/** Whether libcni takes a key of a list for true. */
export function isTrue(value: unknown): boolean {
  return value === true || textOf(value).toLowerCase() === "true";
}

/** The plugins in the directory of a list; one that is invalid makes libcni refuse the list. */
function pluginsBeside(
  system: System,
  directory: string,
): { readonly plugins: readonly PluginFile[]; readonly problem: string | undefined } {
  const plugins: PluginFile[] = [];
  try {
    const names = attempt(() => system.list(directory), [], "ENOENT");
    for (const name of names.filter((one) => one.endsWith(".conf")).toSorted()) {
      const source = join(directory, name);
      const document = readDocument(system, source);
      if (document === undefined) continue;
      const problem = pluginProblem(document, "");
      if (problem !== undefined || !isObject(document)) {
        return { plugins, problem: `${source}: ${problem}` };
      }
      plugins.push({ source, document });
    }
    return { plugins, problem: undefined };
  } catch (error) {
    return { plugins, problem: `a plugin of ${directory}/*.conf: ${reasonOf(error)}` };
  }
}
