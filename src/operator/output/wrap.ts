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

/** The length of the part before the last place to break that leaves a good part of the line filled, or of all. */
function breakWithin(part: string): number {
  const after = (sign: string): number => part.lastIndexOf(sign) + 1;
  const slash = after("/");
  if (slash > part.length / 3) return slash;
  const other = Math.max(after(","), after(":"), after("-"));
  return other > part.length / 2 ? other : part.length;
}
