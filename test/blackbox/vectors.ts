/** The recorded behaviour of the Go plugin, and the replay of a recording. */

import { readFileSync } from "node:fs";
import { ownDirectory, type PriorFile, type TreeEntry } from "../harness/data-directory.ts";
import type { Machine } from "../harness/machine.ts";

/** One call of a vector, with the Go plugin's answer. */
export interface VectorStep {
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly expect: { readonly exitCode: number; readonly stdout: string; readonly stderr: string };
}

/** A recording: files beforehand, calls in order, files afterwards. */
export interface Vector {
  readonly id: string;
  readonly pre: readonly PriorFile[];
  readonly steps: readonly VectorStep[];
  readonly tree: readonly TreeEntry[];
}

const placeholder = "@D@";

/**
 * Reads every recorded vector of a plugin.
 *
 * @param plugin the plugin's name
 */
export function readVectors(plugin: "host-local" | "static" = "host-local"): readonly Vector[] {
  const file = plugin === "static" ? "static/vectors.json" : "vectors.json";
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const { vectors }: { vectors: readonly Partial<Vector>[] } = JSON.parse(text);
  return vectors.map(({ id = "", pre = [], steps = [], tree = [] }) => ({ id, pre, steps, tree }));
}

/**
 * Replays a vector in an empty data directory. The directory's path takes the place of the vector's placeholder, and is
 * replaced by it again in the plugin's output.
 *
 * @param machine where the plugin runs, with an empty data directory
 * @param vector the recording
 * @param options further options of the machine, such as the plugin to start
 */
export function replay(machine: Machine, vector: Vector, options: object = {}) {
  const { dataDirectory } = machine;
  for (const { path, content = "" } of vector.pre) machine.put(path, content);
  const outcomes = vector.steps.map(({ env, stdin }) => {
    const call = { environment: env, stdin: stdin.replaceAll(placeholder, dataDirectory) };
    const { exitCode, stdout, stderr } = machine.runPlugin(call, options);
    return {
      exitCode,
      stdout: stdout.replaceAll(dataDirectory, placeholder),
      stderr: stderr.replaceAll(dataDirectory, placeholder),
    };
  });
  const tree = machine.tree().filter(({ path }) => !path.startsWith(`${ownDirectory}/`));
  return { outcomes, tree };
}
