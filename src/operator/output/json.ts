/** JSON for programs: two spaces, and whole numbers of any size as they are. */

/**
 * Prints a document.
 *
 * @param document plain values and bigints; a bigint becomes a number of as many digits as it has
 */
export function formatJsonDocument(document: unknown): string {
  return `${format(document, "\n")}\n`;
}

/** @param lineEnd what begins a line on the value's own level */
function format(value: unknown, lineEnd: string): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const inner = `${lineEnd}  `;
  if (Array.isArray(value)) {
    const elements = value.map((element) => `${inner}${format(element, inner)}`);
    return elements.length === 0 ? "[]" : `[${elements.join(",")}${lineEnd}]`;
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${inner}${JSON.stringify(name)}: ${format(member, inner)}`);
  return members.length === 0 ? "{}" : `{${members.join(",")}${lineEnd}}`;
}
