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
 * @param print makes the text and prints it behind what it is given
 */
export function repeat(system: OperatorSystem, print: (before: string) => void): never {
  const isScreen = system.isTerminal(1) && !isDumb(system);
  for (let round = 0; ; round++) {
    print(isScreen ? CLEAR : round === 0 ? "" : "\n");
    system.sleep(INTERVAL);
  }
}
