/** Tables: columns under headings, two spaces apart. */

import table from "text-table";

/** A column of a table. */
export interface Column {
  readonly heading: string;
  readonly align: "left" | "right";
}

/**
 * Makes columns from their headings.
 *
 * @param headings a leading `>` aligns the column on the right, as for numbers
 */
export function columns(...headings: readonly string[]): readonly Column[] {
  return headings.map((heading) =>
    heading.startsWith(">")
      ? { heading: heading.slice(1), align: "right" }
      : { heading, align: "left" },
  );
}

/**
 * Formats a table.
 *
 * @returns lines that end with a newline; the headings alone if there are no rows
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const align = columns.map((column) => (column.align === "left" ? "l" : "r"));
  const cells = [columns.map(({ heading }) => heading), ...rows.map((row) => row.map(inOneLine))];
  return `${table(cells, { align, hsep: "  ", stringLength: visibleLength })}\n`;
}

/** A newline in a name must not start a new row. */
function inOneLine(cell: string): string {
  return cell.replace(/[\r\n\t]/g, "?");
}

/** The length without colour codes. */
function visibleLength(cell: string): number {
  if (!cell.includes("\u001b")) return cell.length;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return cell.replace(/\u001b\[[0-9;]*m/g, "").length;
}
