/** What only a person at a terminal sees: colours, and how far long work has come. */

import type { OperatorSystem } from "../../system/operator-system.ts";

/** Colours a text by its meaning. */
export type Paint = (text: string, meaning: "error" | "warning" | "good" | "heading") => string;

const codes = { error: 31, warning: 33, good: 32, heading: 1 } as const;

/** A terminal is told of progress after so many steps. */
const STEP = 1000;

/** Colours for standard output: only on a terminal, and never with `NO_COLOR` (https://no-color.org). */
export function painter(system: OperatorSystem): Paint {
  return (text, meaning) =>
    isColoured(system) ? `\u001b[${codes[meaning]}m${text}\u001b[0m` : text;
}

function isColoured(system: OperatorSystem): boolean {
  return system.isTerminal(1) && (system.environment("NO_COLOR") ?? "") === "";
}

/** Control characters but line ends; our own colours are none. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
  /[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f]|\u001b(?!\[(?:0|1|31|32|33)m)/g;

/** Text without what would steer a terminal: names come from files, and files from anybody. */
export function escapeForTerminal(system: OperatorSystem, text: string): string {
  const plain = isColoured(system) ? text : text.replaceAll("\u001b", "?");
  return plain.replace(CONTROLS, "?");
}

/**
 * Says on a terminal how far long work has come, in one line that it wipes out at the end.
 *
 * @param what such as `reading reservations`
 * @returns to be called after each step, which is counted from 1 on
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
