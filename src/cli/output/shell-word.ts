/** Quotes text as words of a shell. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const lineEndOrEscape = /[\r\n\u001b]/g;

/** Quotes text as one word for a shell, unless it is plain. A line end becomes `?`: no name that is in order has one. */
export function shellWord(text: string): string {
  return /^[\w.:/,@-]+$/.test(text) ? text : shellQuote(text.replace(lineEndOrEscape, "?"));
}

/** Puts text in single quotes for a shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
