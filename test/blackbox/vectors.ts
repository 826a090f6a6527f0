/** The recorded behaviour of the Go plugin, and how one recording is replayed. */

import { readFileSync } from "node:fs";
import { type PriorFile, populate, type TreeEntry, treeOf } from "../harness/data-directory.ts";
import { type Outcome, run } from "../harness/executable.ts";

/** One call of a vector, with what the Go plugin answered. */
export interface VectorStep {
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly expect: { readonly exitCode: number; readonly stdout: string; readonly stderr: string };
}

/** Files beforehand, calls in order, files afterwards. */
export interface Vector {
  readonly id: string;
  readonly pre: readonly PriorFile[];
  readonly steps: readonly VectorStep[];
  readonly tree: readonly TreeEntry[];
}

/** What a replayed vector did. */
export interface Replay {
  readonly outcomes: readonly Outcome[];
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
  const { vectors }: { vectors: readonly Vector[] } = JSON.parse(text);
  return vectors;
}

/**
 * Replays a vector in an empty data directory. The directory's path is put in where the vector
 * has its placeholder, and taken out again of what the plugin said.
 *
 * @param program the plugin's path
 * @param vector what to replay
 * @param directory an empty directory
 */
export function replay(program: string, vector: Vector, directory: string): Replay {
  populate(directory, vector.pre);
  const outcomes = vector.steps.map(({ env, stdin }) => {
    const outcome = run(program, {
      environment: env,
      stdin: stdin.replaceAll(placeholder, directory),
    });
    return {
      exitCode: outcome.exitCode,
      stdout: outcome.stdout.replaceAll(directory, placeholder),
      stderr: outcome.stderr.replaceAll(directory, placeholder),
    };
  });
  return { outcomes, tree: treeOf(directory) };
}
