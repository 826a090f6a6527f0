/** JSON for programs: two spaces, and whole numbers of any size as they are. */

/** Marks a bigint among the strings of a document, until its quotes are taken off. */
const MARK = "\u0001";

/**
 * Prints a document.
 *
 * @param document plain values and bigints; a bigint becomes a number of as many digits as it has
 */
export function formatDocument(document: unknown): string {
  const text = JSON.stringify(
    document,
    (_, value) => (typeof value === "bigint" ? `${MARK}${value}` : value),
    2,
  );
  return `${text.replace(/"\\u0001(-?[0-9]+)"/g, "$1")}\n`;
}
