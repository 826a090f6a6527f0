/** A scratch node with network configurations, and reservations made by the plugin. */

import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import {
  ownDirectory,
  scratchDirectory,
  type TreeEntry,
  treeOf,
} from "../blackbox/data-directory.ts";
import { executable, type Outcome, run } from "../blackbox/executable.ts";
import { attachmentCall, configuration, type JsonObject } from "../blackbox/runtime-call.ts";
import { type ToolOptions, tool } from "./tool.ts";

/** A node that is gone after the test. */
export interface Node {
  /** The data directory. */
  readonly directory: string;
  readonly confDir: string;
  /** Configures a network, in a file of its name. */
  readonly configure: (name: string, ipam: JsonObject, rest?: JsonObject) => string;
  /** Calls ADD or DEL, by the executable under test or another plugin, and expects success. */
  readonly call: (verb: "ADD" | "DEL", name: string, containerId: string, program?: string) => void;
  /** Writes a file in the data directory, with a time this many seconds ago. */
  readonly put: (path: string, content: string, age?: number) => string;
  /** Sets the time of a file in the data directory to this many seconds ago. */
  readonly age: (path: string, seconds: number) => void;
  readonly read: (path: string) => string;
  /** Everything in the data directory, our own directory included. */
  readonly everything: () => readonly TreeEntry[];
  /** Runs the tool on this node alone. */
  readonly tool: (words: readonly string[], options?: ToolOptions) => Outcome;
  /** As `tool`, with `--json`: the exit code and the document. */
  readonly json: (
    words: readonly string[],
    options?: ToolOptions,
  ) => { readonly exitCode: number | null; readonly document: unknown };
}

/** Makes an empty node. */
export function nodeFor(t: Pick<Test, "teardown">): Node {
  const root = scratchDirectory(t);
  const directory = join(root, "data");
  const confDir = join(root, "conf");
  for (const path of [directory, confDir]) mkdirSync(path);
  const documents = new Map<string, JsonObject>();
  const age = (path: string, seconds: number): void => {
    const time = Date.now() / 1000 - seconds;
    utimesSync(join(directory, path), time, time);
  };
  const runTool: Node["tool"] = (words, options) =>
    tool([...words, "--conf-dir", confDir, "--data-dir", directory], options);
  return {
    directory,
    confDir,
    configure: (name, ipam, rest = {}) => {
      const document = configuration(directory, ipam, { name, ...rest });
      documents.set(name, document);
      const path = join(confDir, `${name}.conf`);
      writeFileSync(path, JSON.stringify(document));
      return path;
    },
    call: (verb, name, containerId, program = executable) => {
      const document = documents.get(name);
      if (document === undefined) throw new Error(`${name} is not configured`);
      const spoken = { ...document, cniVersion: "1.0.0" };
      const { exitCode, stdout } = run(program, attachmentCall(verb, { containerId }, spoken));
      if (exitCode !== 0) throw new Error(`${verb} ${containerId}: ${stdout}`);
    },
    put: (path, content, seconds) => {
      const target = join(directory, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content, { mode: 0o600 });
      if (seconds !== undefined) age(path, seconds);
      return target;
    },
    age,
    read: (path) => readFileSync(join(directory, path), "utf8"),
    everything: () => [...treeOf(directory), ...treeOf(join(directory, ownDirectory))],
    tool: runTool,
    json: (words, options) => {
      const { exitCode, stdout } = runTool([...words, "--json"], options);
      return { exitCode, document: JSON.parse(stdout) };
    },
  };
}

/**
 * A text with the node's own paths as `NODE`, and columns two spaces apart, so that it can be compared wherever the
 * node lies.
 *
 * @param text what the tool printed
 */
export function withoutPaths({ directory }: Node, text: string): string {
  return text.replaceAll(dirname(directory), "NODE").replaceAll(/ {2,}/g, "  ");
}
