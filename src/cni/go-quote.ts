/** Quoting as Go's `%q` does it, for error texts that carry what the caller sent. */

const escapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
};

/** What has to be escaped: both quotes, the backslash, and what is not printable by Go's `strconv.IsPrint`. */
const notPlain = /["'\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/**
 * `text` between double quotes, with Go's escapes.
 *
 * @example goQuote('a"b\x01') // "a\"b\x01", quotes included
 */
export function goQuote(text: string): string {
  return `"${escaped(text, '"')}"`;
}

/** One character between single quotes, as Go's JSON decoder names an unexpected character. */
export function goQuoteCharacter(character: string): string {
  return `'${escaped(character, "'")}'`;
}

function escaped(text: string, quote: string): string {
  return text.replace(notPlain, (character) => {
    if (character === quote) return `\\${quote}`;
    if (character === '"' || character === "'") return character;
    return escapes[character] ?? hexadecimal(character);
  });
}

function hexadecimal(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}
