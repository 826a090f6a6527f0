/** The words of a command line. */

/** Blanks, or a part of a word: in quotes, after a backslash, or neither. */
const PARTS =
  /\s+|(?:'(?<single>[^']*)|"(?<double>(?:\\.?|[^"\\])*))(?<end>['"]?)|\\(?<escaped>.?)|(?<plain>[^\s'"\\]+)/gs;

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
  for (const { groups = {} } of line.matchAll(PARTS)) {
    const { single, double, end, escaped, plain } = groups;
    // The characters that a shell takes literally after a backslash in double quotes; before any other, it stays.
    const text = single ?? double?.replaceAll(/\\([\\"$`])/g, "$1") ?? escaped ?? plain;
    isOpen = end === "";
    if (text !== undefined) words.push(`${isWithin ? words.pop() : ""}${text}`);
    isWithin = text !== undefined;
  }
  return { words, isOpen };
}
