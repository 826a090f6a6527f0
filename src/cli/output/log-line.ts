/** The form of messages on standard error. */

import { inOneLine } from "./escape.ts";

/** A message as a line of its own, with its end. */
export function logLine(message: string): string {
  return `host-local: ${inOneLine(message)}\n`;
}
