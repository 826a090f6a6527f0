/** Nothing is changed unless somebody says so: with --yes, or at a terminal when asked. */

import type { Context, Option } from "./command.ts";

/** The option with which a command does what it otherwise asks about. */
export const yesOption: Option = { name: "--yes", summary: "do it without asking" };

/**
 * Whether to go on. Without --yes a person at a terminal is asked; elsewhere the answer is no.
 *
 * @param preview what would be done, for that person
 * @param question without the answers
 */
export function isConfirmed(context: Context, preview: string, question: string): boolean {
  const { system, has, log } = context;
  if (has(yesOption.name)) return true;
  if (!system.isTerminal(0) || !system.isTerminal(2)) return false;
  log(`${preview}${question} [y/N] `);
  return /^\s*y(?:es)?\s*$/i.test(system.readLine() ?? "");
}
