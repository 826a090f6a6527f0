/** Whether an executable is as new as the source: a test of an older one would be a test of another source. */

import { globSync, statSync } from "node:fs";
import { inRepository } from "./repository.ts";

const SOURCES = ["src/**/*.*", "scripts/build/*.*", "package-lock.json"];

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
  requireNewer(executable, sources(), command);
}

/** Whether an executable is there, and no older than the source. */
export function isCurrentBuild(executable: string): boolean {
  return ageProblem(executable, sources()) === undefined;
}

/**
 * Refuses a file that is not there, or older than one of its sources.
 *
 * @throws Error with the command that makes it
 */
export function requireNewer(path: string, sources: readonly string[], command: string): void {
  const problem = ageProblem(path, sources);
  if (problem !== undefined) throw new Error(`${problem}: run ${command}`);
}

function ageProblem(path: string, sources: readonly string[]): string | undefined {
  const built = statSync(path, { throwIfNoEntry: false });
  if (built === undefined) return `There is no ${path}`;
  const newer = sources.find((source) => statSync(source).mtimeMs > built.mtimeMs);
  return newer === undefined ? undefined : `${path} is older than ${newer}`;
}

function sources(): readonly string[] {
  return globSync(SOURCES, { cwd: inRepository(".") }).map(inRepository);
}
