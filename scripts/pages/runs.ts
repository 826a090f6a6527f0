/** What test files say of their runs, from which a page and its data are made. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";

/** Reads runs, each a line of JSON, in the order of their ends; none where there is no file. */
export function readRuns<Run>(file: string): readonly Run[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line): Run => JSON.parse(line));
}

/** Writes results as JSON in the form that the linter wants. */
export function writeResults(path: string, results: unknown): void {
  const biome = join(root, "node_modules", ".bin", "biome");
  const input = JSON.stringify(results);
  writeFileSync(path, command([biome, "format", `--stdin-file-path=${basename(path)}`], { input }));
}
