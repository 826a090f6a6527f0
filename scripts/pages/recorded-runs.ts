/** What test files say of their runs, each run a line of JSON in a file. */

import { existsSync, readFileSync } from "node:fs";

/** Reads them, in the order of their ends; none where there is no file. */
export function readRuns<Run>(file: string): readonly Run[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Run => JSON.parse(line));
}
