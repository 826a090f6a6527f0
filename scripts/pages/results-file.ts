/** A file of results, from which a page is made. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../build/bundle.ts";

/** Writes results as JSON in the form that the linter wants. */
export function writeResults(path: string, results: unknown): void {
  const biome = join(root, "node_modules", ".bin", "biome");
  const formatted = execFileSync(biome, ["format", `--stdin-file-path=${basename(path)}`], {
    cwd: root,
    input: JSON.stringify(results),
    maxBuffer: 64 * 1024 * 1024,
  });
  writeFileSync(path, formatted);
}
