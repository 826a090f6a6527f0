/** Runs calls through runner.c, which measures them. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../build/bundle.ts";

/** One start of an executable, as a runtime makes it. */
export interface Call {
  readonly executable: string;
  /** The file whose content is sent to standard input. */
  readonly configuration: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What a group of calls cost together; a group of one is a plain call. */
export interface Outcome {
  /** Wall time from before the first start to after the last end. */
  readonly nanoseconds: number;
  /** The largest peak of resident memory, in KiB. */
  readonly kilobytes: number;
  /** The highest exit status. */
  readonly status: number;
  /** How much was printed. */
  readonly bytes: number;
}

/** Runs groups of calls. */
export type Runner = (groups: readonly (readonly Call[])[]) => readonly Outcome[];

/**
 * Compiles the runner.
 *
 * @param directory where to put it
 * @returns a function that runs groups one after the other, the calls of a group at the same time
 */
export function buildRunner(directory: string): Runner {
  const executable = join(directory, "runner");
  const source = join(root, "scripts/bench/runner.c");
  const warnings = ["-Wall", "-Wextra", "-Werror"];
  run("gcc", ["-std=gnu11", "-O2", "-static", ...warnings, source, "-o", executable], "");
  return (groups) => {
    const plan = groups.map((calls) => `${calls.map(formatCall).join("")}\n`).join("");
    const outcomes = run(executable, [], plan).trimEnd().split("\n").map(parseOutcome);
    if (outcomes.length !== groups.length) throw new Error("The runner lost some of its calls.");
    return outcomes;
  };
}

function formatCall({ executable, configuration, environment }: Call): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return `${[executable, configuration, ...variables].join("\t")}\n`;
}

function parseOutcome(line: string): Outcome {
  const [nanoseconds = 0, kilobytes = 0, status = 0, bytes = 0] = line.split(" ").map(Number);
  return { nanoseconds, kilobytes, status, bytes };
}

/** Runs a program to its end and returns what it printed. */
function run(command: string, parameters: readonly string[], input: string): string {
  const { status, error, stdout } = spawnSync(command, parameters, {
    input,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) {
    throw new Error(`${command} could not be run: install gcc and libc6-dev. (${error.message})`);
  }
  if (status !== 0) throw new Error(`${command} ended with ${status}.`);
  return stdout;
}
