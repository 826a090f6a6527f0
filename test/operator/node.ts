/** A scratch node: network configurations, reservations made by plugins, and libcni's cache. */

import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import { optionsOf } from "../../src/cli/command/common-options.ts";
import { commands } from "../../src/commands.ts";
import {
  ownDirectory,
  scratchDirectory,
  type TreeEntry,
  treeOf,
} from "../harness/data-directory.ts";
import { executable, type Outcome, run } from "../harness/executable.ts";
import { type CacheEntry, cacheEntry } from "../harness/results-cache.ts";
import {
  attachmentCall,
  configuration,
  type Json,
  type JsonObject,
} from "../harness/runtime-call.ts";
import { type ToolOptions, tool } from "../harness/tool.ts";

/** What varies from ADD to ADD. */
export interface AddOptions {
  readonly program?: string;
  readonly interfaceName?: string;
  readonly cniArgs?: string;
  readonly netns?: string;
}

/** A finding as `check --json` prints it. */
export interface PrintedFinding {
  readonly code: string;
  readonly severity: string;
  readonly network: string;
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
  readonly commands: readonly string[];
  readonly repaired: boolean;
}

/** A node below a scratch directory, gone after the test. */
export interface Node {
  readonly root: string;
  /** The configuration directory. */
  readonly confDir: string;
  /** The data directory. */
  readonly dataDir: string;
  /** The directory of libcni's cache. */
  readonly cacheDir: string;
  /** The variable by which calls and commands find the directory of failed calls. */
  readonly runtime: { readonly HOST_LOCAL_RUNTIME_DIR: string };
  /** Writes a configuration file, an object as JSON, and returns its path. */
  readonly configure: (file: string, content: Json) => string;
  /** Configures a network, in a file of its name, and returns the path. */
  readonly network: (name: string, ipam: JsonObject, rest?: JsonObject) => string;
  /** Calls ADD or DEL on a configured network, by the executable under test or another plugin; expects success. */
  readonly call: (verb: "ADD" | "DEL", name: string, containerId: string, program?: string) => void;
  /** ADD to a network that need not be configured; `ipam` is merged into its IPAM configuration. */
  readonly add: (
    network: string,
    ipam: JsonObject,
    containerId: string,
    options?: AddOptions,
  ) => void;
  /** Writes a file in the data directory, with a time this many seconds ago, and returns its path. */
  readonly write: (path: string, content: string, age?: number) => string;
  /** Sets the time of a file in the data directory to this many seconds ago. */
  readonly age: (path: string, seconds: number) => void;
  readonly read: (path: string) => string;
  /** Everything in the data directory, our own directory included. */
  readonly everything: () => readonly TreeEntry[];
  /** Writes an entry of libcni's cache; `pod` is `namespace/name`, or empty where the runtime set no CNI_ARGS. */
  readonly remember: (
    network: string,
    containerId: string,
    pod: string,
    entry?: Omit<CacheEntry, "pod">,
  ) => void;
  /** A command line with the options that name this node's directories, where the command has them and they are not given. */
  readonly line: (words: readonly string[]) => readonly string[];
  /** Runs a command on this node alone: its configurations, its data directory and its cache. */
  readonly tool: (words: readonly string[], options?: ToolOptions) => Outcome;
  /** As `tool`, with `--json`: the exit code and the document. */
  readonly json: (
    words: readonly string[],
    options?: ToolOptions,
  ) => { readonly exitCode: number | null; readonly document: unknown };
  /** What `check` finds, with these further words. */
  readonly findings: (
    words?: readonly string[],
    options?: ToolOptions,
  ) => readonly PrintedFinding[];
}

/** Makes an empty node. */
export function nodeFor(t: Pick<Test, "teardown">): Node {
  const root = scratchDirectory(t);
  const confDir = join(root, "net.d");
  const dataDir = join(root, "networks");
  const cacheDir = join(root, "cache");
  const runtime = { HOST_LOCAL_RUNTIME_DIR: join(root, "run") };
  for (const path of [
    confDir,
    dataDir,
    join(cacheDir, "results"),
    runtime.HOST_LOCAL_RUNTIME_DIR,
  ]) {
    mkdirSync(path, { recursive: true });
  }
  const documents = new Map<string, JsonObject>();
  const configure: Node["configure"] = (file, content) => {
    const path = join(confDir, file);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  const age: Node["age"] = (path, seconds) => {
    const time = Date.now() / 1000 - seconds;
    utimesSync(join(dataDir, path), time, time);
  };
  const line: Node["line"] = (words) => [
    ...words,
    ...(lacks(words, "--conf-dir") ? ["--conf-dir", confDir] : []),
    ...(lacks(words, "--data-dir") ? ["--data-dir", dataDir] : []),
    ...(lacks(words, "--cache-dir") ? ["--cache-dir", cacheDir] : []),
  ];
  const runTool: Node["tool"] = (words, options) =>
    tool(line(words), { ...options, environment: { ...runtime, ...options?.environment } });
  const json: Node["json"] = (words, options) => {
    const { exitCode, stdout } = runTool([...words, "--json"], options);
    return { exitCode, document: JSON.parse(stdout) };
  };
  return {
    root,
    confDir,
    dataDir,
    cacheDir,
    runtime,
    configure,
    network: (name, ipam, rest = {}) => {
      const document = configuration(dataDir, ipam, { name, ...rest });
      documents.set(name, document);
      return configure(`${name}.conf`, document);
    },
    call: (verb, name, containerId, program = executable) => {
      const document = documents.get(name);
      if (document === undefined) throw new Error(`${name} is not configured`);
      expectSuccess(program, verb, { containerId }, document);
    },
    add: (name, ipam, containerId, { program = executable, ...options } = {}) => {
      const document = { name, ipam: { type: "host-local", dataDir, ...ipam } };
      expectSuccess(program, "ADD", { containerId, ...options }, document);
    },
    write: (path, content, seconds) => {
      const target = join(dataDir, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content, { mode: 0o600 });
      if (seconds !== undefined) age(path, seconds);
      return target;
    },
    age,
    read: (path) => readFileSync(join(dataDir, path), "utf8"),
    everything: () => [...treeOf(dataDir), ...treeOf(join(dataDir, ownDirectory))],
    remember: (network, containerId, pod, entry) => {
      const { name, text } = cacheEntry(network, containerId, { ...entry, pod });
      writeFileSync(join(cacheDir, "results", name), text);
    },
    line,
    tool: runTool,
    json,
    findings: (words = [], options = {}) => {
      const { document } = json(["check", ...words], options);
      return (document as { readonly findings: readonly PrintedFinding[] }).findings;
    },
  };
}

function expectSuccess(
  program: string,
  verb: "ADD" | "DEL",
  attachment: Omit<AddOptions, "program"> & { readonly containerId: string },
  document: JsonObject,
): void {
  const spoken = { ...document, cniVersion: "1.0.0" };
  const { exitCode, stdout } = run(program, attachmentCall(verb, attachment, spoken));
  if (exitCode !== 0) throw new Error(`${verb} ${attachment.containerId}: ${stdout}`);
}

/** Whether an option that the command knows is not given. */
function lacks(words: readonly string[], option: string): boolean {
  const command = commands.find(({ name }) => words.includes(name));
  const isKnown = command !== undefined && optionsOf(command).some(({ name }) => name === option);
  return isKnown && !words.some((word) => word === option || word.startsWith(`${option}=`));
}

/**
 * A text with the node's own paths as `NODE`, and columns two spaces apart, so that it can be compared wherever the
 * node lies.
 *
 * @param text what the tool printed
 */
export function withoutPaths(node: Node, text: string): string {
  return belowRoot(node, text, "NODE").replaceAll(/ {2,}/g, "  ");
}

/**
 * A text with the node's own paths as they are below its root, so that it can be compared wherever the node lies: quotes that a
 * shell needs for a path of this machine are not there.
 *
 * @param text what the tool printed
 * @param name what stands for the root
 */
export function belowRoot({ root }: Node, text: string, name = ""): string {
  const [before = "", ...quoted] = text.split(`'${root}`);
  const rest = quoted.map((part) => part.replace("'", ""));
  return [before, ...rest].join(root).replaceAll(root, name);
}
