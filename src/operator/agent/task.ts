/** The tasks of the agent: commands that it runs again and again. */

import { type Command, type Option, UsageError } from "../../cli/command/command.ts";
import { type ParsedCommandLine, parseCommandLine } from "../../cli/command/command-line.ts";
import { parseDuration } from "../../cli/command/duration.ts";
import { wordsIn } from "../../cli/command/words.ts";
import { findCommand } from "../../cli/manual/help.ts";
import { listenOption } from "./endpoint.ts";

/** The option before each command. */
export const everyOption: Option = {
  name: "--every",
  value: "DURATION",
  isRepeatable: true,
  summary: "run the COMMAND that follows at the start, and then at this interval",
};

/** A command that runs again and again. */
export interface AgentTask {
  /** The command's name, in the log and in `/healthz`. */
  readonly name: string;
  /** The words after `host-local`. */
  readonly words: readonly string[];
  /** The time from start to start, in milliseconds. */
  readonly interval: number;
  /** Whether `--listen` serves its standard output, which goes to the log otherwise. */
  readonly isServed: boolean;
}

/**
 * The tasks on the command line, in its order.
 *
 * @param commands those that can be tasks
 * @throws UsageError if one is not a command line of these
 */
export function tasksOf(
  { operands, option, values }: ParsedCommandLine,
  commands: readonly Command[],
): readonly AgentTask[] {
  const intervals = values(everyOption.name);
  if (operands.length !== intervals.length) {
    throw new UsageError(
      `${everyOption.name}: expected a command after each, such as --every 15m 'gc --yes --log'`,
    );
  }
  const tasks = operands.map((line, at): AgentTask => {
    const { words, isOpen } = wordsIn(line);
    if (isOpen) throw new UsageError(`expected the end of a quote, found none in ${line}`);
    const [name = "", ...rest] = words;
    const given = parseTask(findCommand(commands, name), rest);
    return {
      name,
      words,
      interval: parseInterval(intervals[at] ?? ""),
      isServed:
        option(listenOption.name) !== undefined &&
        name === "metrics" &&
        given.option("--output") === undefined,
    };
  });
  if (tasks.filter(({ isServed }) => isServed).length < 2) return tasks;
  throw new UsageError(
    `${listenOption.name}: expected one metrics command to serve, found several`,
  );
}

/** @throws UsageError with the name of the command */
function parseTask(command: Command, words: readonly string[]): ParsedCommandLine {
  try {
    return parseCommandLine(command, words);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${command.name}: ${error.message}`);
    throw error;
  }
}

/** Parses the time from start to start, in milliseconds. */
function parseInterval(text: string): number {
  const interval = parseDuration(text, everyOption.name);
  if (interval > 0) return interval;
  throw new UsageError(`${everyOption.name}: expected a duration of at least 1s, found ${text}`);
}
