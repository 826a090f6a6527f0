/** The life of an operator command: it is understood, run, and its report printed. */

import { CniError, messageWithDetails } from "../cni/error.ts";
import type { OperatorSystem } from "../system/operator-system.ts";
import { isSystemError } from "../system/system.ts";
import { CommandError, type Context, type Report } from "./command/command.ts";
import { parseCommandLine } from "./command/command-line.ts";
import { commands } from "./commands.ts";
import { commandHelp, findCommand, overview } from "./manual/help.ts";
import { formatJsonDocument } from "./output/json.ts";
import { escapeForTerminal } from "./output/terminal.ts";

/** Could not look: wrong usage, or the machine refused. */
const COMMAND_ERROR = 2;

/**
 * Runs the command that the arguments name.
 *
 * @returns the exit code: 0 nothing wrong, 1 findings or refused, 2 could not look
 */
export function operate(system: OperatorSystem): number {
  try {
    const { text, exitCode } = answer(system);
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

function answer(system: OperatorSystem): { text: string; exitCode: number } {
  const [name = "", ...words] = system.arguments;
  if (name === "--help" || name === "-h" || name === "help") {
    const [about] = words;
    const text =
      about === undefined ? overview(commands) : commandHelp(findCommand(commands, about));
    return { text, exitCode: 0 };
  }
  const command = findCommand(commands, name);
  const parsed = parseCommandLine(command, words);
  if (parsed.has("--help")) return { text: commandHelp(command), exitCode: 0 };
  const log: Context["log"] = (text) => system.writeStandardError(escapeForTerminal(system, text));
  const report = command.run({ system, ...parsed, log });
  return { text: textOf(system, report, parsed.has("--json")), exitCode: report.exitCode };
}

/** Of the two forms only the one that is printed is looked at: making the other may cost seconds. */
function textOf(system: OperatorSystem, report: Report, asJson: boolean): string {
  return asJson ? formatJsonDocument(report.document) : escapeForTerminal(system, report.text);
}
