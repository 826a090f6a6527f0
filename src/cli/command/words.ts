/** The words of a command line. */

/**
 * Splits a line into words as a shell does: at blanks, but not within quotes or after a backslash. Nothing else has a
 * meaning.
 *
 * @returns the words, the last one without its end if a quote is open
 * @example wordsIn("gc --live-command 'crictl pods -q'"); // words: ["gc", "--live-command", "crictl pods -q"]
 */
export function wordsIn(line: string): {
  readonly words: readonly string[];
  readonly isOpen: boolean;
} {
  const words: string[] = [];
  let isOpen = false;
  let isWithin = false;
  for (const [part] of line.matchAll(/\s+|[^\s'"\\]+|\\.?|'[^']*'?|"[^"]*"?/gs)) {
    const [first = ""] = part;
    if (/\s/.test(first)) {
      isWithin = false;
      continue;
    }
    const isQuote = first === "'" || first === '"';
    isOpen = isQuote && !/^(.).*\1$/s.test(part);
    const text =
      isQuote || first === "\\" ? part.slice(1, isQuote && !isOpen ? -1 : undefined) : part;
    words.push(`${isWithin ? words.pop() : ""}${text}`);
    isWithin = true;
  }
  return { words, isOpen };
}
