/** Parses, runs and reports an operator command. */

import { CniError, messageWithDetails } from "../cni/error.ts";
import type { OperatorSystem } from "../system/operator-system.ts";
import { isSystemError } from "../system/system.ts";
import { CommandError, type Context, type Report } from "./command/command.ts";
import { parseCommandLine } from "./command/command-line.ts";
import { commands } from "./commands.ts";
import { commandHelp, findCommand, overview } from "./manual/help.ts";
import { formatJsonDocument } from "./output/json.ts";
import { escapeForTerminal } from "./output/terminal.ts";

/** The exit code for wrong usage, invalid input and failed system calls. */
const COMMAND_ERROR = 2;

/**
 * Runs the command that the arguments name.
 *
 * @returns the exit code, see `Report`
 */
export function operate(system: OperatorSystem): number {
  try {
    const { text, exitCode } = execute(system);
    system.writeStandardOutput(text);
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof CniError || isSystemError(error))) {
      throw error;
    }
    system.writeStandardError(
      escapeForTerminal(system, `host-local: ${messageWithDetails(error)}\n`),
    );
    return COMMAND_ERROR;
  }
}

function execute(system: OperatorSystem): { text: string; exitCode: number } {
  const [name = "", ...words] = system.arguments;
  if (name === "--help" || name === "-h" || name === "help") {
    const [topic] = words;
    const text =
      topic === undefined ? overview(commands) : commandHelp(findCommand(commands, topic));
    return { text, exitCode: 0 };
  }
  const command = findCommand(commands, name);
  const parsed = parseCommandLine(command, words);
  if (parsed.has("--help")) return { text: commandHelp(command), exitCode: 0 };
  const log: Context["log"] = (text) => system.writeStandardError(escapeForTerminal(system, text));
  const report = command.run({ system, ...parsed, log });
  return { text: format(system, report, parsed.has("--json")), exitCode: report.exitCode };
}

/** Makes only the form that is printed: the other one may take seconds. */
function format(system: OperatorSystem, report: Report, asJson: boolean): string {
  return asJson ? formatJsonDocument(report.document) : escapeForTerminal(system, report.text);
}
