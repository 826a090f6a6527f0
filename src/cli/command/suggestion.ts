/** What a mistyped word probably means. */

/** The longest word that is compared, in characters: no name is nearly as long. */
const LONGEST = 64;

/** A clause to append to an error, such as `; did you mean list?`; empty where no name is similar. */
export function suggestion(word: string, names: readonly string[]): string {
  const name = similarName(word, names);
  return name === undefined ? "" : `; did you mean ${name}?`;
}

/**
 * The name that a word probably means: the only one that begins with it, or the most similar one, where at most a third of the
 * word's characters are wrong. `undefined` where there is none.
 */
export function similarName(word: string, names: readonly string[]): string | undefined {
  if (word.length < 2 || word.length > LONGEST) return undefined;
  const [completed, ...others] = names.filter((name) => name.startsWith(word));
  if (others.length === 0 && completed !== undefined) return completed;
  const mostWrong = Math.max(1, Math.floor(word.length / 3));
  const [similar] = names
    .filter((name) => Math.abs(name.length - word.length) <= mostWrong)
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .filter(({ distance }) => distance <= mostWrong)
    .sort((a, b) => a.distance - b.distance);
  return similar?.name;
}

/**
 * How many characters have to be inserted, removed, replaced or exchanged with their neighbour (optimal string
 * alignment).
 */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isExchanged = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isExchanged && row > 1 && column > 1 ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(from.length, to.length);
}
