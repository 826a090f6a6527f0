/** The executable under test as an operator calls it: with arguments, and no CNI_COMMAND. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { executable, type Outcome, run } from "./executable.ts";
import { runtimeEnvironment } from "./runtime-call.ts";

/** The machine's own configurations are none of a test's; a scenario has a machine of its own (`test/e2e/scenario.ts`). */
export const ownConfigurations: Readonly<Record<string, string>> =
  process.env.HOST_LOCAL_E2E_SCENARIO === undefined ? { NETCONFPATH: "/nonexistent" } : {};

/** What surrounds a command. */
export interface ToolOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly workingDirectory?: string;
  /** The user number to run as. */
  readonly user?: number;
  /** Another file than the executable under test. */
  readonly program?: string;
}

/** Runs a command line that the tool printed, as an operator does who copies it into a shell. */
export function runAsPrinted(t: Pick<Test, "testdir">, line: string): Outcome {
  const programs = t.testdir({});
  const start = `#!/bin/sh\nexec ${executable} "$@"\n`;
  writeFileSync(join(programs, "host-local"), start, { mode: 0o755 });
  const PATH = `${programs}:${runtimeEnvironment.PATH}`;
  return run("/bin/sh", {
    environment: { ...runtimeEnvironment, PATH },
    stdin: "",
    arguments: ["-c", line],
  });
}

/**
 * Runs a command of the tool, far from a terminal.
 *
 * @param words the command line behind the program's name
 */
export function tool(words: readonly string[], options: ToolOptions = {}): Outcome {
  const { environment = {}, stdin = "", program = executable, ...rest } = options;
  return run(program, {
    ...rest,
    environment: { ...runtimeEnvironment, ...ownConfigurations, ...environment },
    stdin,
    arguments: words,
  });
}
