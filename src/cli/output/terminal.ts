/** Colours, widths and escaping on a terminal. */

import { decimal } from "../../ipam/decimal.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { inLines } from "./escape.ts";

/** Colours text by its meaning. */
export type Paint = (text: string, meaning: "error" | "warning" | "good" | "heading") => string;

const codes = { error: 31, warning: 33, good: 32, heading: 1 } as const;

/** Colours for standard output: only on a terminal, and never with `NO_COLOR` (https://no-color.org). */
export function painter(system: OperatorSystem): Paint {
  return (text, meaning) =>
    isColoured(system) ? `\u001b[${codes[meaning]}m${text}\u001b[0m` : text;
}

function isColoured(system: OperatorSystem): boolean {
  return system.isTerminal(1) && (system.environment("NO_COLOR") ?? "") === "" && !isDumb(system);
}

/** Whether the terminal has no control sequences. */
export function isDumb(system: OperatorSystem): boolean {
  return system.environment("TERM") === "dumb";
}

/** Narrower text is not readable. */
const LEAST_WIDTH = 40;

/** The width of help where standard output is no terminal, or one of unknown width. */
const USUAL_WIDTH = 80;

/**
 * The width for tables, in columns: that of the terminal, or `COLUMNS` if it is set. `undefined` where standard output is
 * no terminal, so that each row is one line there, or where the width is not known.
 */
export function tableWidth(system: OperatorSystem): number | undefined {
  if (!system.isTerminal(1)) return undefined;
  const width = widthInEnvironment(system) ?? system.terminalSize()?.columns;
  return width ? Math.max(width, LEAST_WIDTH) : undefined;
}

/** The width for help, in columns; `COLUMNS` counts without a terminal, too. */
export function helpWidth(system: OperatorSystem): number {
  return Math.max(widthInEnvironment(system) ?? tableWidth(system) ?? USUAL_WIDTH, LEAST_WIDTH);
}

function widthInEnvironment(system: OperatorSystem): number | undefined {
  const width = Number(system.environment("COLUMNS") ?? "");
  return Number.isInteger(width) && width > 0 ? width : undefined;
}

/** The length of a shortened container id, as in crictl. */
const SHORT_ID_LENGTH = 13;

/** A container id for a table: shortened on a terminal, `-` if it is empty. */
export function formatId(system: OperatorSystem, id: string): string {
  return (system.isTerminal(1) ? id.slice(0, SHORT_ID_LENGTH) : id) || "-";
}

/** Text with container ids of the usual form, 64 hexadecimal digits; they are shortened on a terminal. */
export function shortenIds(system: OperatorSystem, text: string): string {
  return text.replace(/\b[0-9a-f]{64}\b/g, (id) => formatId(system, id));
}

/** The number from which on a count is approximate on a terminal. */
const LARGE = 2n ** 40n;

/**
 * A count for people: on a terminal a large one is a power of two, such as `≈2^64`.
 *
 * @param count not negative
 */
export function formatCount(system: OperatorSystem, count: bigint): string {
  if (count < LARGE || !system.isTerminal(1)) return decimal(count);
  return `≈2^${Number(Math.log2(Number(count)).toFixed(1))}`;
}

/** Text for standard output or error, see `inLines`. */
export function escapeForTerminal(system: OperatorSystem, text: string): string {
  return inLines(text, isColoured(system));
}
