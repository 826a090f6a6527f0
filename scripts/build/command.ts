/** Other programs, run to their end. */

import { spawnSync } from "node:child_process";
import { root } from "./bundle.ts";

/** How to run a program. */
export interface CommandOptions {
  readonly directory?: string;
  /** Variables besides those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What it reads. */
  readonly input?: string | Uint8Array;
}

/** A program that is needed is not installed, or another thing that the build links. */
export class MissingProgram extends Error {
  /** Says what to install where a program could not be run. */
  static of(program: string, error: Error): MissingProgram {
    const packages: Readonly<Record<string, string>> = {
      gcc: "gcc and libc6-dev",
      objcopy: "binutils",
      "mkfs.xfs": "xfsprogs",
      "mkfs.btrfs": "btrfs-progs",
    };
    const known = program.startsWith("qemu-") ? "qemu-user" : packages[program];
    return new MissingProgram(
      `${program} could not be run: install ${known ?? "what docs/releasing.md names"}. (${error.message})`,
    );
  }
}

/**
 * Runs a program and returns what it printed on standard output.
 *
 * @throws {MissingProgram} when it cannot be started
 * @throws when it fails, with what it printed on standard error
 */
export function command(words: readonly string[], options: CommandOptions = {}): string {
  return run(words, options, "pipe").toString();
}

/** Runs a program as `command` does, for bytes; what it prints on standard error is shown as it comes. */
export function output(words: readonly string[], options: CommandOptions = {}): Buffer {
  return run(words, options, "inherit");
}

function run(
  [program = "", ...words]: readonly string[],
  { directory = root, environment, input = "" }: CommandOptions,
  errors: "pipe" | "inherit",
): Buffer {
  const { status, error, stdout, stderr } = spawnSync(program, words, {
    cwd: directory,
    input,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ["pipe", "pipe", errors],
    env: { ...process.env, ...environment },
  });
  if (status === 0) return stdout;
  // A program that ends before it has read all is an error, too, but has a status.
  if (status === null && error !== undefined) {
    const isMissing = "code" in error && (error.code === "ENOENT" || error.code === "EACCES");
    throw isMissing ? MissingProgram.of(program, error) : error;
  }
  const reason = errors === "pipe" ? `: ${stderr.toString().trim()}` : "";
  throw new Error(`${program} ended with ${status}${reason}`);
}
