/** The life of an operator command: it is understood, run, and its report printed. */

import { CniError, wholeMessage } from "../cni/error.ts";
import type { OperatorSystem } from "../system/operator-system.ts";
import { isSystemError } from "../system/system.ts";
import { CannotLook, type Context, type Report } from "./command.ts";
import { parseCommandLine } from "./command-line.ts";
import { commands } from "./commands.ts";
import { formatDocument } from "./document.ts";
import { commandHelp, findCommand, overview } from "./help.ts";
import { harmless } from "./terminal.ts";

/** Could not look: wrong usage, or the machine refused. */
const CANNOT_LOOK = 2;

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
    if (!(error instanceof CannotLook || error instanceof CniError || isSystemError(error))) {
      throw error;
    }
    system.writeStandardError(harmless(system, `host-local: ${wholeMessage(error)}\n`));
    return CANNOT_LOOK;
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
  const tell: Context["tell"] = (text) => system.writeStandardError(harmless(system, text));
  const report = command.run({ system, ...parsed, tell });
  return { text: textOf(system, report, parsed.has("--json")), exitCode: report.exitCode };
}

/** Of the two forms only the one that is printed is looked at: making the other may cost seconds. */
function textOf(system: OperatorSystem, report: Report, asJson: boolean): string {
  return asJson ? formatDocument(report.document) : harmless(system, report.text);
}
