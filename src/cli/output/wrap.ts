/** Breaks text into lines. */

/**
 * Breaks text at spaces; a word that is too long is broken after `/`, `,`, `:` or `-`, and only without these elsewhere.
 *
 * @param width the most characters of a line
 * @returns at least one line
 */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    if (space > 0) {
      lines.push(rest.slice(0, space));
      rest = rest.slice(space + 1);
      continue;
    }
    const length = breakWithin(rest.slice(0, width));
    lines.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return [...lines, rest];
}

/** Where to break, in the order of preference, if the line is not left nearly empty. */
const signs = [",", "/", ":", "-"];

/** The length of the part before the last good place to break, or of all. */
function breakWithin(part: string): number {
  for (const sign of signs) {
    const length = part.lastIndexOf(sign) + 1;
    if (length > part.length / 3) return length;
  }
  return part.length;
}
