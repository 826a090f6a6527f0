/** What is wrong with a configuration that is not JSON, in Go's words. */

import { findSyntaxError, lineAndColumn } from "../../cni/json-syntax.ts";

/**
 * Why a text is not JSON, and where.
 *
 * @param text one that Go's decoder refuses
 * @example whyInvalid("{“name”: 1}"); // invalid JSON at line 1, column 2: invalid character 'â' …; it is U+201C
 */
export function whyInvalid(text: string): string {
  const error = findSyntaxError(text);
  // The engine has run out of its stack.
  if (error === undefined) return "invalid JSON: it is nested too deep";
  const { message, offset } = error;
  const found = text.codePointAt(offset) ?? 0;
  // Go names only the first byte of quotes, spaces and marks that are not ASCII.
  const code = found.toString(16).toUpperCase().padStart(4, "0");
  const character = found < 0x80 ? "" : `; it is U+${code}`;
  const template = text.includes("{{") ? "; it may be a template that the runtime fills in" : "";
  return `invalid JSON at ${lineAndColumn(text, offset)}: ${message}${character}${template}`;
}
