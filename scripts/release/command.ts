/** Other programs, run by the release. */

import { spawnSync } from "node:child_process";
import { root } from "../build/bundle.ts";

/** How to run a program. */
export interface CommandOptions {
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a program and returns what it printed on standard output.
 *
 * @throws when it cannot be started or fails, with what it printed on standard error
 */
export function command(words: readonly string[], options: CommandOptions = {}): string {
  const [program = "", ...rest] = words;
  const { status, error, stdout, stderr } = spawnSync(program, rest, {
    cwd: options.directory ?? root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.environment },
  });
  if (error !== undefined) throw new Error(`${program} could not be run: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr.trim()}`);
  return stdout;
}
