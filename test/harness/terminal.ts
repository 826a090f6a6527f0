/** The tool at a terminal: a pseudo terminal of util-linux' script(1). */

import { spawn, spawnSync } from "node:child_process";
import { shellQuote } from "../../src/cli/output/shell-word.ts";
import { executable, type Outcome, run } from "./executable.ts";
import { runtimeEnvironment } from "./runtime-call.ts";

/** The reason for tap to skip what needs a terminal, or false where there can be one. */
export const skipWithoutTerminal: string | false =
  spawnSync("script", ["--version"]).status === 0
    ? false
    : "There is no script(1) here to make a terminal: on Debian it is in the package bsdutils.";

/** The longest that a question stays unanswered, in milliseconds. */
const LONGEST_TALK = 120_000;

/**
 * Runs a command of the tool with a terminal as all its streams; `stdout` has what it wrote to any of them.
 *
 * @param words the command line behind the program's name
 * @param typed the input of the person at the terminal
 * @param environment further variables
 */
export function atTerminal(
  words: readonly string[],
  typed = "",
  environment: Readonly<Record<string, string>> = {},
): Outcome {
  const outcome = run("script", {
    environment: { ...runtimeEnvironment, TERM: "xterm", ...environment },
    stdin: typed,
    arguments: ["-qec", commandLine(words), "/dev/null"],
  });
  return { ...outcome, stdout: outcome.stdout.replaceAll("\r\n", "\n") };
}

/**
 * Runs a command that asks questions, and answers each as soon as it is asked.
 *
 * @param words the command line behind the program's name
 * @param answer gives what is typed once a question, counted from 1, is on the screen
 */
export function converse(
  words: readonly string[],
  answer: (question: number) => string,
): Promise<Outcome> {
  return new Promise((settle, fail) => {
    const child = spawn("script", ["-qec", commandLine(words), "/dev/null"], {
      env: { ...runtimeEnvironment, TERM: "xterm" },
      timeout: LONGEST_TALK,
    });
    let seen = "";
    let answered = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString("utf8");
      for (const asked = seen.split("[y/N] ").length - 1; answered < asked; ) {
        answered += 1;
        child.stdin.write(answer(answered));
      }
    });
    child.on("error", fail);
    child.on("close", (exitCode) => {
      settle({ exitCode, stdout: seen.replaceAll("\r\n", "\n"), stderr: "" });
    });
  });
}

function commandLine(words: readonly string[]): string {
  return [executable, ...words].map(shellQuote).join(" ");
}
