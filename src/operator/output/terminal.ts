/** Colours, escaping and progress on a terminal. */

import type { OperatorSystem } from "../../system/operator-system.ts";

/** Colours text by its meaning. */
export type Paint = (text: string, meaning: "error" | "warning" | "good" | "heading") => string;

const codes = { error: 31, warning: 33, good: 32, heading: 1 } as const;

/** Progress is shown each time this many steps are done. */
const STEP = 1000;

/** Colours for standard output: only on a terminal, and never with `NO_COLOR` (https://no-color.org). */
export function painter(system: OperatorSystem): Paint {
  return (text, meaning) =>
    isColoured(system) ? `\u001b[${codes[meaning]}m${text}\u001b[0m` : text;
}

function isColoured(system: OperatorSystem): boolean {
  return system.isTerminal(1) && (system.environment("NO_COLOR") ?? "") === "";
}

/** Control characters, except newlines and our own colour codes. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
  /[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f]|\u001b(?!\[(?:0|1|31|32|33)m)/g;

/** Replaces control characters: names come from files that anybody may have written. */
export function escapeForTerminal(system: OperatorSystem, text: string): string {
  const plain = isColoured(system) ? text : text.replaceAll("\u001b", "?");
  return plain.replace(CONTROLS, "?");
}

/**
 * Shows the progress of long work on a terminal, in one line that is erased at the end.
 *
 * @param what such as `reading reservations`
 * @returns a function to call after each step; steps count from 1
 */
export function progress(
  system: OperatorSystem,
  what: string,
  total: number,
): (step: number) => void {
  if (total < STEP || !system.isTerminal(2)) return () => {};
  return (step) => {
    if (step >= total) system.writeStandardError("\r\u001b[K");
    else if (step % STEP === 0) system.writeStandardError(`\r${what}: ${step} of ${total}`);
  };
}
