/** What is wrong with a configuration that is not JSON, in Go's words and in those for what people mostly wrote there. */

import { findSyntaxError, lineAndColumn } from "../../cni/json-syntax.ts";

/** What a text has where it stops being JSON, and what to say of it. */
const mistakes: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/^\ufeff/, () => "the file begins with a byte order mark (BOM): save it without"],
  [
    /^[\u2018-\u201f\u2039\u203a\u00ab\u00bb]/,
    (found) => `${found} is a typographic quote: write "`,
  ],
  [/^'/, () => 'JSON has double quotes: write "'],
  [/^\u00a0/, () => "U+00A0 is a no-break space: write an ordinary one"],
  [/^(?:\/[/*]|#)/, () => "JSON has no comments"],
];

const COMMA_TOO_MANY = /,\s*$/;

/**
 * Why a text is not JSON.
 *
 * @param text one that Go's decoder refuses
 * @example whyInvalid("{'name': 'net'}"); // invalid JSON at line 1, column 2: invalid character …; JSON has double quotes: …
 */
export function whyInvalid(text: string): string {
  const error = findSyntaxError(text);
  // The engine has run out of its stack.
  if (error === undefined) return "invalid JSON: it is nested too deep";
  const { message, offset } = error;
  const reason = mistakeAt(text, offset);
  return `invalid JSON at ${lineAndColumn(text, offset)}: ${message}${reason === undefined ? "" : `; ${reason}`}`;
}

function mistakeAt(text: string, offset: number): string | undefined {
  if (text.includes("{{")) return "it may be a template that the runtime fills in";
  const rest = text.slice(offset);
  for (const [pattern, say] of mistakes) {
    const [found] = pattern.exec(rest) ?? [];
    if (found !== undefined) return say(found);
  }
  const isClosing = /^[}\]]/.test(rest) && COMMA_TOO_MANY.test(text.slice(0, offset));
  return isClosing ? "the comma before it is one too many" : undefined;
}
