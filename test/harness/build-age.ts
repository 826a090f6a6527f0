/** A test of an executable that is older than the source would be one of other source. */

import { globSync, statSync } from "node:fs";
import { inRepository } from "./repository.ts";

const SOURCES = ["src/**/*.*", "scripts/build/*.ts"];

/** The executables of `dist/`, each with the command that builds it. */
const commands: ReadonlyMap<string, string> = new Map([
  [inRepository("dist/host-local"), "npm run build"],
  [inRepository("dist/native/host-local"), "npm run build:native"],
]);

/**
 * Refuses an executable of `dist/` that is older than the source, unless it was built for this run (`npm test`), during
 * which somebody may go on writing.
 *
 * @throws Error with the command to run
 */
export function requireCurrentBuild(executable: string): void {
  const command = commands.get(executable);
  if (command === undefined || process.env.HOST_LOCAL_IS_BUILT !== undefined) return;
  const sources = globSync(SOURCES, { cwd: inRepository(".") });
  requireNewer(executable, sources.map(inRepository), command);
}

/**
 * Refuses a file that is not there, or older than one of its sources.
 *
 * @throws Error with the command that makes it
 */
export function requireNewer(path: string, sources: readonly string[], command: string): void {
  const built = statSync(path, { throwIfNoEntry: false });
  if (built === undefined) throw new Error(`There is no ${path}: run ${command}`);
  const newer = sources.find((source) => statSync(source).mtimeMs > built.mtimeMs);
  if (newer !== undefined) throw new Error(`${path} is older than ${newer}: run ${command}`);
}
