/** A file of results, from which a page is made. */

import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";

/** Writes results as JSON in the form that the linter wants. */
export function writeResults(path: string, results: unknown): void {
  const biome = join(root, "node_modules", ".bin", "biome");
  const input = JSON.stringify(results);
  writeFileSync(path, command([biome, "format", `--stdin-file-path=${basename(path)}`], { input }));
}
