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

const printable = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/**
 * `text` between double quotes, with Go's escapes.
 *
 * @example goQuote('a"b\x01') // "a\"b\x01", quotes included
 */
export function goQuote(text: string): string {
  return `"${escaped(text, '"')}"`;
}

/** One character between single quotes, as Go's JSON decoder names the character that it refused. */
export function goQuoteCharacter(character: string): string {
  return `'${escaped(character, "'")}'`;
}

function escaped(text: string, quote: string): string {
  let result = "";
  for (const character of text) {
    result += character === quote ? `\\${quote}` : (escapes[character] ?? printableForm(character));
  }
  return result;
}

function printableForm(character: string): string {
  if (printable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}
