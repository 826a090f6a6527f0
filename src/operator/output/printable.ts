/** Quotes untrusted text for a terminal or a shell. */

/**
 * Quotes and escapes text, unless it is plain.
 *
 * @param text may contain control characters
 */
export function printable(text: string): string {
  if (/^[\w.:/,@%+=-]+$/.test(text)) return text;
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Quotes text as one word for a shell, unless it is plain. */
export function shellWord(text: string): string {
  return /^[\w.:/,@-]+$/.test(text) ? text : shellQuote(text);
}

/** Puts text in single quotes for a shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
