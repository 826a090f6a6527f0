/**
 * Escaping of text from elsewhere: names in files that anybody may have written, arguments, messages of other programs.
 * It must not control a terminal, change the direction of what follows, or pretend to be lines of this program.
 */

/** Control characters and line ends, and what is invisible or changes the direction of what follows; without newlines. */
const CONTROLS =
  "\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb";

const unsafe = new RegExp(`[\\n${CONTROLS}]`, "g");
const unsafeInText = new RegExp(`[${CONTROLS}]`, "g");
const unsafeInColour = new RegExp(`(?!\\u001b\\[(?:0|1|31|32|33)m)[${CONTROLS}]`, "g");

/** Text from elsewhere for a place within a line: each unsafe character becomes `?`. */
export function inOneLine(text: string): string {
  return text.replace(unsafe, "?");
}

/** A message on standard error, as a line of its own with its end. */
export function logLine(message: string): string {
  return `host-local: ${inOneLine(message)}\n`;
}

/**
 * The last step before text is printed, which cannot tell this program's newlines from others: those are replaced by
 * `inOneLine` before.
 *
 * @param isColoured whether this program's own colour codes stay
 */
export function inLines(text: string, isColoured: boolean): string {
  return text.replace(isColoured ? unsafeInColour : unsafeInText, "?");
}

/** JSON in which each unsafe character is an escape sequence. */
export function withEscapes(json: string): string {
  return json.replace(
    unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
