/** Tables: columns under headings, two spaces apart. */

import { inOneLine } from "./escape.ts";
import { wrap } from "./wrap.ts";

/** A column of a table. */
interface Column {
  readonly heading: string;
  readonly align: "left" | "right";
  /** Whether it is left out where the table is too wide. */
  readonly isOptional: boolean;
}

/** How a table is laid out. */
export interface TableLayout {
  /** The most characters of a line; `undefined` for any number. */
  readonly width?: number | undefined;
  /** Whether the headings are left out. */
  readonly isHeadless?: boolean;
}

/** What stands between two columns. */
const GAP = "  ";

/** A column whose cells would have to be broken into shorter lines makes a table unreadable. */
const LEAST_WIDTH = 22;

/**
 * Makes columns from their headings.
 *
 * @param headings a leading `>` aligns the column on the right, as for numbers; a leading `?` makes it optional
 */
export function columns(...headings: readonly string[]): readonly Column[] {
  return headings.map((heading) => ({
    heading: heading.replace(/^[>?]+/, ""),
    align: /^[?]?>/.test(heading) ? "right" : "left",
    isOptional: heading.startsWith("?"),
  }));
}

/**
 * Formats a table. One that is too wide loses optional columns, the last one first; then the cells of the widest columns
 * are broken into several lines; and where those would be too short, each row becomes a list of headings and cells.
 *
 * @returns lines that end with a newline; the headings alone if there are no rows
 */
export function formatTable(
  columns: readonly Column[],
  rows: Rows,
  { width = Number.POSITIVE_INFINITY, isHeadless = false }: TableLayout = {},
): string {
  const headings = columns.map(({ heading }) => heading);
  const cells = rows.map((row) => (isPlain(row.join("")) ? row : row.map(escapeCell)));
  let all: Rows = isHeadless ? cells : [headings, ...cells];
  if (cells.length === 0) return layOut(columns, all);
  let shown = columns;
  while (excessOf(all, width) > 0) {
    const omitted = shown.findLastIndex(({ isOptional }) => isOptional);
    if (omitted < 0) break;
    shown = shown.filter((_, at) => at !== omitted);
    all = all.map((row) => row.filter((_, at) => at !== omitted));
  }
  const excess = excessOf(all, width);
  if (excess <= 0) return layOut(shown, all);
  const limit = limitOf(widthsOf(all), excess);
  if (limit < LEAST_WIDTH) return formatRecords(headings, cells, width);
  return layOut(
    shown,
    all.flatMap((row) => linesOf(row, limit)),
  );
}

type Rows = readonly (readonly string[])[];

function widthsOf(rows: Rows): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, visibleLength(cell));
    }
  }
  return widths;
}

/** How many characters too wide a table is. */
function excessOf(rows: Rows, width: number): number {
  if (width === Number.POSITIVE_INFINITY) return 0;
  return (
    widthsOf(rows).reduce((sum, columnWidth) => sum + columnWidth + GAP.length, -GAP.length) - width
  );
}

/** The width to which the widest columns have to be narrowed. */
function limitOf(widths: readonly number[], excess: number): number {
  let limit = Math.max(...widths);
  const saved = (): number => widths.reduce((sum, width) => sum + Math.max(width - limit, 0), 0);
  while (saved() < excess) limit--;
  return limit;
}

/** The lines of a row, whose cells are at most this wide. */
function linesOf(row: readonly string[], limit: number): Rows {
  if (row.every((cell) => cell.length <= limit)) return [row];
  const broken = row.map((cell) => (visibleLength(cell) <= limit ? [cell] : wrap(cell, limit)));
  const count = Math.max(...broken.map(({ length }) => length));
  return Array.from({ length: count }, (_, line) => broken.map((parts) => parts[line] ?? ""));
}

/** Each row as a list, with an empty line between two. */
function formatRecords(headings: readonly string[], rows: Rows, width: number): string {
  const margin = Math.max(...headings.map(({ length }) => length)) + GAP.length;
  const records = rows.map((row) =>
    headings.flatMap((heading, at) => {
      const lines = wrap(row[at] ?? "", Math.max(width - margin, LEAST_WIDTH));
      return `${heading.padEnd(margin)}${lines.join(`\n${" ".repeat(margin)}`)}\n`;
    }),
  );
  return records.map((lines) => lines.join("")).join("\n");
}

function layOut(columns: readonly Column[], lines: Rows): string {
  const widths = widthsOf(lines);
  return lines
    .map((line) => {
      const cells = line.map((cell, at) => {
        const space = " ".repeat((widths[at] ?? 0) - visibleLength(cell));
        return columns[at]?.align === "right" ? space + cell : cell + space;
      });
      return `${cells.join(GAP).trimEnd()}\n`;
    })
    .join("");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const coloured = /^(\u001b\[[0-9]+m)(.*)(\u001b\[0m)$/s;

/** Whether there is nothing to escape: so it is in nearly every row, of which there may be 65 000. */
function isPlain(text: string): boolean {
  return !/[^ -~]/.test(text);
}

/** A colour around the whole cell stays. */
function escapeCell(cell: string): string {
  const [, begin = "", text = cell, end = ""] = coloured.exec(cell) ?? [];
  return begin + inOneLine(text) + end;
}

/** The length without colour codes. */
function visibleLength(cell: string): number {
  if (!cell.includes("\u001b")) return cell.length;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return cell.replace(/\u001b\[[0-9;]*m/g, "").length;
}
