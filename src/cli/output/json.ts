/** JSON with an indent of two spaces, and integers of any size. */

import { decimal } from "../../ipam/decimal.ts";
import { withEscapes } from "./escape.ts";

/**
 * Formats a document.
 *
 * @param document plain values and bigints that are not negative; a bigint becomes a number with all its digits
 */
export function formatJsonDocument(document: unknown): string {
  return `${format(document, "\n")}\n`;
}

/** @param lineEnd the newline and the indent of the value */
function format(value: unknown, lineEnd: string): string {
  if (typeof value === "bigint") return decimal(value);
  if (typeof value !== "object" || value === null)
    return withEscapes(JSON.stringify(value ?? null));
  const inner = `${lineEnd}  `;
  if (Array.isArray(value)) {
    const elements = value.map((element) => `${inner}${format(element, inner)}`);
    return elements.length === 0 ? "[]" : `[${elements.join(",")}${lineEnd}]`;
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(
      ([name, member]) => `${inner}${withEscapes(JSON.stringify(name))}: ${format(member, inner)}`,
    );
  return members.length === 0 ? "{}" : `{${members.join(",")}${lineEnd}}`;
}
