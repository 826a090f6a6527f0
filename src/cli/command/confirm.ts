/** Changes need a confirmation: `--yes`, or an answer at the terminal. */

import { escapeForTerminal } from "../output/terminal.ts";
import type { Context, Option } from "./command.ts";

/** The option that confirms in advance. */
export const yesOption: Option = { name: "--yes", summary: "do not ask for confirmation" };

/** Whether the answer is not given in advance, and there is a terminal. */
export function canAsk({ system, has }: Context): boolean {
  return !has(yesOption.name) && system.isTerminal(0) && system.isTerminal(2);
}

/**
 * Whether the change is confirmed. Without `--yes` it asks at a terminal; elsewhere the answer is no.
 *
 * @param preview what would be done; printed before the question
 * @param question without the `[y/N]`
 */
export function isConfirmed(context: Context, preview: string, question: string): boolean {
  const { system, has } = context;
  if (has(yesOption.name)) return true;
  if (!canAsk(context)) return false;
  system.writeStandardError(escapeForTerminal(system, `${preview}${question} [y/N] `));
  return /^\s*y(?:es)?\s*$/i.test(system.readLine() ?? "");
}
