/** Tables for people: columns under headings, two spaces between them. */

import table from "text-table";

/** A column: its heading, and on which side its cells align. */
export interface Column {
  readonly heading: string;
  readonly align: "left" | "right";
}

/**
 * Columns by their headings.
 *
 * @param headings one that begins with `>` is of numbers, which align on the right
 */
export function columns(...headings: readonly string[]): readonly Column[] {
  return headings.map((heading) =>
    heading.startsWith(">")
      ? { heading: heading.slice(1), align: "right" }
      : { heading, align: "left" },
  );
}

/**
 * Lays out a table.
 *
 * @returns the lines, each ended; only the headings where there are no rows
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const align = columns.map((column) => (column.align === "left" ? "l" : "r"));
  const cells = [columns.map(({ heading }) => heading), ...rows.map((row) => row.map(inOneLine))];
  return `${table(cells, { align, hsep: "  ", stringLength: visibleLength })}\n`;
}

/** A line end in a name must not begin a row. */
function inOneLine(cell: string): string {
  return cell.replace(/[\r\n\t]/g, "?");
}

/** The length without the codes that colour it. */
function visibleLength(cell: string): number {
  if (!cell.includes("\u001b")) return cell.length;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return cell.replace(/\u001b\[[0-9;]*m/g, "").length;
}
