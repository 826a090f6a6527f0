/** The files of a configuration directory, as libcni 1.3, the runtimes with it and nerdctl 2 read them. */

import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { isIdentifier } from "../../cni/attachment.ts";
import { configurationNames } from "../../cni/configuration-files.ts";
import { isObject, type Json, type JsonObject, parseJson, valueInAnyCase } from "../../cni/json.ts";
import { join } from "../../store/files/paths.ts";
import { attempt, isSystemError, LARGEST_FILE, type System } from "../../system/system.ts";
import { whyInvalid } from "./invalid-json.ts";
import { isTrue, listRefusal, pluginRefusal } from "./refusal.ts";

/** A file that configures one network, or the entries of libcni's cache that do. */
export interface ConfigurationFile {
  /** The path of the file, or the directory of the entries. */
  readonly source: string;
  readonly directory: string;
  /** Whether nerdctl alone reads it, for a namespace of containerd. */
  readonly isNamespaced: boolean;
  readonly document: Json;
  /** The network that it configures; empty where it names none. */
  readonly network: string;
  /** Whether it has a list of plugins, not one alone. */
  readonly isList: boolean;
  /** Whether it has a plugin that calls the networks of others, such as multus. */
  readonly callsOthers: boolean;
  /** The plugins that libcni appends to its own, each of a file `NETWORK/*.conf` beside it. */
  readonly appended: readonly { readonly source: string; readonly document: JsonObject }[];
  /** Why no runtime can use it; `undefined` where one can. */
  readonly refusal: string | undefined;
}

/** A configuration that is invalid, or that can be used only in part. */
export interface ConfigurationProblem {
  readonly source: string;
  readonly problem: string;
  /** The text that could not be read as a configuration, empty where there is none; `undefined` where it was read. */
  readonly unread?: string;
}

const NAMES = /"name"\s*:\s*"/i;

/** Whether a file that cannot be read, or that no runtime can use, may configure a network: it names that network, or none. */
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

const LIST_SUFFIX = ".conflist";

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
  const read = (path: string, name: string): readonly ConfigurationFile[] =>
    readFile(system, path, name, path !== directory, problems);
  const ofNetworks = configurationNames(names);
  const own = ofNetworks.flatMap((name) => read(directory, name));
  const namespaces = names.filter((name) => isIdentifier(name) && !ofNetworks.includes(name));
  const further = namespaces.toSorted().flatMap((namespace) => {
    const path = join(directory, namespace);
    return namesIn(system, path, problems)
      .filter((name) => name.endsWith(LIST_SUFFIX))
      .toSorted()
      .flatMap((name) => read(path, name));
  });
  return [...own, ...further];
}

/**
 * The names in a directory: none if it is missing, a link to itself, or another user's. Any other one that cannot be read may
 * have networks, and is a problem.
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
 * A member of a network or a plugin, as libcni reads it. It decodes a list into a map, whose keys are exact, and a plugin into
 * a type of Go, whose keys are in any letter case.
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

/** A file, by itself: nothing is appended to it, and nobody refuses it. */
export function fileWith(
  document: Json,
  about: Pick<ConfigurationFile, "source" | "directory" | "isNamespaced">,
): ConfigurationFile {
  return {
    ...about,
    document,
    network: textOf(memberOf(document, "name")),
    isList: about.source.endsWith(LIST_SUFFIX),
    callsOthers: CALLS_OTHERS.test(JSON.stringify(document)),
    appended: [],
    refusal: undefined,
  };
}

function readFile(
  system: System,
  directory: string,
  name: string,
  isNamespaced: boolean,
  problems: ConfigurationProblem[],
): readonly ConfigurationFile[] {
  const source = join(directory, name);
  let unread = "";
  try {
    const text = textOfFile(system, source);
    if (text === undefined) return [];
    unread = text;
    const file = fileWith(documentIn(text), { source, directory, isNamespaced });
    return [{ ...file, ...(file.isList ? asList(system, file) : asPlugin(file)) }];
  } catch (error) {
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
function textOfFile(system: System, path: string): string | undefined {
  const { kind } = system.status(path);
  if (kind === "other") throw new SyntaxError("not a regular file");
  return kind === "directory" ? undefined : system.readFile(path, LARGEST_FILE);
}

/** @throws SyntaxError */
function documentIn(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new SyntaxError(whyInvalid(text)) : error;
  }
}

/** What a file says as one plugin, as libcni reads a file without the suffix of a list (`ConfFromFile`). */
function asPlugin({ document }: ConfigurationFile): Partial<ConfigurationFile> {
  const problem = pluginRefusal(document);
  const hint = hasPlugins(document)
    ? `; a list of plugins belongs in a file with ${LIST_SUFFIX}`
    : "";
  return { refusal: problem && `${problem}${hint}` };
}

/** What it says as a list, with the plugins that are in a directory of its name (`NetworkConfFromFile` of libcni). */
function asList(
  system: System,
  { directory, document, network }: ConfigurationFile,
): Partial<ConfigurationFile> {
  const refusal = listRefusal(document);
  const inlinedOnly = isTrue(exactMember(document, "loadOnlyInlinedPlugins"));
  // libcni knows no plugins beside a list without a name either.
  if (refusal !== undefined || inlinedOnly || network === "") return { refusal };
  const beside = join(directory, network);
  try {
    const appended = pluginsBeside(system, beside);
    const isEmpty = !hasPlugins(document) && appended.length === 0;
    return isEmpty ? { refusal: `no plugins, and none in ${beside}/*.conf` } : { appended };
  } catch (error) {
    return { refusal: `a plugin of ${beside}/*.conf: ${reasonOf(error)}` };
  }
}

/**
 * The plugins in the directory of a list.
 *
 * @throws SyntaxError | SystemError where one is invalid, which makes libcni refuse the list
 */
function pluginsBeside(system: System, directory: string): ConfigurationFile["appended"] {
  const names = attempt(() => system.list(directory), [], "ENOENT");
  const files = names.filter((name) => name.endsWith(".conf")).toSorted();
  return files.flatMap((name) => {
    const source = join(directory, name);
    const text = textOfFile(system, source);
    if (text === undefined) return [];
    const document = documentIn(text);
    const refusal = pluginRefusal(document);
    if (!isObject(document) || refusal !== undefined) throw new SyntaxError(`${name}: ${refusal}`);
    return [{ source, document }];
  });
}
