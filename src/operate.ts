/** Parses, runs and reports an operator command. */

import {
  CommandError,
  type Context,
  OptionError,
  type Report,
  UsageError,
} from "./cli/command/command.ts";
import { parseCommandLine } from "./cli/command/command-line.ts";
import { commandHelp, findCommand, overview } from "./cli/manual/help.ts";
import { inOneLine, logLine } from "./cli/output/escape.ts";
import { formatJsonDocument } from "./cli/output/json.ts";
import { escapeForTerminal, helpWidth } from "./cli/output/terminal.ts";
import { CniError, messageWithDetails } from "./cni/error.ts";
import { commands } from "./commands.ts";
import type { OperatorSystem } from "./system/operator-system.ts";
import { isSystemError } from "./system/system.ts";

/** The exit code for wrong usage, invalid input and failed system calls. */
const COMMAND_ERROR = 2;

/**
 * Runs the command that the arguments name.
 *
 * @returns the exit code, see `Report`; `undefined` while a service goes on, which ends the process by itself
 */
export function operate(system: OperatorSystem): number | undefined {
  const [name, words] = commandLineOf(system.arguments);
  try {
    return execute(system, name, words);
  } catch (error) {
    // The reader closed the pipe, as `head` does.
    if (isSystemError(error, "EPIPE") && error.path === "/dev/stdout") return 0;
    if (!(error instanceof CommandError || error instanceof CniError || isSystemError(error))) {
      throw error;
    }
    system.writeStandardError(errorText(error, name));
    return COMMAND_ERROR;
  }
}

/** An error as it is printed, with its lines and the command line that prints help. */
function errorText(error: Error, name: string): string {
  const help = error instanceof UsageError ? `Run '${helpLineFor(name)}' for usage.\n` : "";
  const lines = error instanceof CommandError ? error.lines : [];
  const further = lines.map((line) => `${inOneLine(line)}\n`).join("");
  const command = error instanceof OptionError && isCommand(name) ? `${name}: ` : "";
  return `${logLine(`${command}${messageWithDetails(error)}`)}${further}${help}`;
}

/** The command's name and the words that follow it; `--json` may stand before it. */
function commandLineOf(
  words: readonly string[],
): readonly [name: string, words: readonly string[]] {
  const at = words.findIndex((word) => word !== "--json");
  const [name = "", ...others] = at < 0 ? [] : words.slice(at);
  return [name, [...others, ...words.slice(0, Math.max(at, 0))]];
}

function execute(
  system: OperatorSystem,
  name: string,
  words: readonly string[],
): number | undefined {
  if (name === "--help" || name === "-h" || name === "help") {
    const topic = words.find((word) => word !== "--json");
    const width = helpWidth(system);
    system.writeStandardOutput(
      topic === undefined
        ? overview(commands, width)
        : commandHelp(findCommand(commands, topic), width),
    );
    return 0;
  }
  const command = findCommand(commands, name === "--version" ? "version" : name);
  const parsed = parseCommandLine(command, words);
  if (parsed.has("--help")) {
    system.writeStandardOutput(commandHelp(command, helpWidth(system)));
    return 0;
  }
  const log: Context["log"] = (message) => system.writeStandardError(logLine(message));
  const context = { system, commands, ...parsed, log };
  const report = command.run(context);
  const { exitCode, refusal, service } = report;
  if (refusal !== undefined) system.writeStandardError(errorText(refusal, name));
  system.writeStandardOutput(format(system, report, parsed.has("--json")));
  if (service === undefined) return exitCode;
  system.serve(service);
  return undefined;
}

/** Makes only the form that is printed: the other one may take seconds. */
function format(system: OperatorSystem, report: Report, asJson: boolean): string {
  return asJson ? formatJsonDocument(report.document()) : escapeForTerminal(system, report.text());
}

function helpLineFor(name: string): string {
  return isCommand(name) ? `host-local ${name} --help` : "host-local --help";
}

function isCommand(name: string): boolean {
  return commands.some((command) => command.name === name);
}
