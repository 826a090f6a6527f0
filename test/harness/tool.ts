/** The executable under test as an operator calls it: with arguments, and no CNI_COMMAND. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { shellQuote } from "../../src/cli/output/shell-word.ts";
import { scratchDirectory } from "./data-directory.ts";
import { executable, type Outcome, run } from "./executable.ts";
import { runtimeEnvironment } from "./runtime-call.ts";

/**
 * Variables that hide the machine's own configurations from a test; a scenario has a machine of its own
 * (`test/e2e/scenario.ts`).
 */
export const ownConfigurations: Readonly<Record<string, string>> =
  process.env.HOST_LOCAL_E2E_SCENARIO === undefined ? { NETCONFPATH: "/nonexistent" } : {};

/** The surroundings of a command. */
export interface ToolOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly workingDirectory?: string;
  /** The user number to run as. */
  readonly user?: number;
  /** The program to run in place of the executable under test. */
  readonly program?: string;
}

/**
 * Runs a command line that the tool printed, like an operator who copies it into a shell.
 *
 * @param scripts further programs on the PATH, by their names
 */
export function runAsPrinted(
  t: Pick<Test, "teardown">,
  line: string,
  scripts: Readonly<Record<string, string>> = {},
): Outcome {
  const programs = scratchDirectory(t);
  for (const [name, text] of Object.entries({
    ...scripts,
    "host-local": `exec ${shellQuote(executable)} "$@"`,
  })) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const PATH = `${programs}:${runtimeEnvironment.PATH}`;
  return run("/bin/sh", {
    environment: { ...runtimeEnvironment, PATH },
    stdin: "",
    arguments: ["-c", line],
  });
}

/**
 * Runs a command of the tool without a terminal.
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
