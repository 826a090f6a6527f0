/** Repeats a command until it is interrupted. */

import type { OperatorSystem } from "../../system/operator-system.ts";
import { isDumb } from "../output/terminal.ts";
import type { Option } from "./command.ts";

/** The option that repeats a command. */
export const watchOption: Option = {
  name: "--watch",
  summary: "repeat every two seconds until interrupted, clearing the screen of a terminal",
};

/** In milliseconds. */
const INTERVAL = 2000;

/** Clears the screen and moves to its upper left corner. */
const CLEAR = "\u001b[H\u001b[2J";

/**
 * Prints a text again and again; it ends when it is interrupted, or when printing fails.
 *
 * @param print makes the text and prints what the function that it is given makes of it
 */
export function repeat(
  system: OperatorSystem,
  print: (frame: (text: string) => string) => void,
): never {
  const isScreen = system.isTerminal(1) && !isDumb(system);
  for (let round = 0; ; round++) {
    const before = round === 0 ? "" : "\n";
    print((text) =>
      isScreen
        ? `${CLEAR}${cutToScreen(text, system.terminalSize()?.rows || undefined)}`
        : `${before}${text}`,
    );
    system.sleep(INTERVAL);
  }
}

/**
 * The lines of a text that fit on a screen, and how many do not: otherwise its beginning would scroll away.
 *
 * @param text lines that end with a newline
 * @param height in lines, of which the cursor takes one; `undefined` if it is not known
 */
export function cutToScreen(text: string, height = Number.POSITIVE_INFINITY): string {
  const lines = text.split("\n").slice(0, -1);
  const shown = Math.max(height - 2, 1);
  if (lines.length <= shown + 1) return text;
  return `${lines.slice(0, shown).join("\n")}\n… ${lines.length - shown} more\n`;
}
