/** The text that `check` prints. */

import type { Context } from "../../cli/command/command.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { painter, shortenIds, tableWidth } from "../../cli/output/terminal.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import {
  type Counts,
  type Finding,
  MOST_LISTED,
  remedyOf,
  type Severity,
  severityOf,
} from "./finding.ts";
import { formatRemedyCommand } from "./remedy-command.ts";

/** The number of findings, and of commands, shown for each code; the JSON has all. */
const MAX_SHOWN = 20;

/** The `max_output_length` of node-problem-detector, in characters. */
const MAX_LINE_LENGTH = 80;

/**
 * A table of findings, the remedy for each code with its commands, and a line of counts.
 *
 * @param left those that were not repaired
 * @param counts of these
 */
export function formatFindings(
  context: Context,
  findings: readonly Finding[],
  left: readonly Finding[],
  { error, warning, info }: Counts,
): string {
  if (findings.length === 0) return "No problems found.\n";
  const { system } = context;
  const remaining = new Set(left);
  const byCode = [...Map.groupBy(findings, ({ code }) => code).values()];
  const table = formatTable(
    columns("SEVERITY", "CODE", "NETWORK", "PATH", "MESSAGE"),
    byCode.flatMap((own) => rowsOf(system, own, remaining)),
    { width: tableWidth(system) },
  );
  const remedies = [...Map.groupBy(left, ({ code }) => code).values()].flatMap((own) =>
    [...Map.groupBy(own, remedyOf).values()].map((same) => remediesOf(context, same)),
  );
  const remedyList = left.length === 0 ? "" : `\nWhat to do:\n${remedies.join("")}`;
  const counts = `${plural(error, "error")}, ${plural(warning, "warning")}, ${info} info`;
  const repaired = findings.length - left.length;
  const repairs = repaired === 0 ? "" : `; ${repaired} repaired`;
  return `${table}${remedyList}\n${counts}${repairs}\n`;
}

/** A single line, cut off at the length that node-problem-detector accepts. */
export function problemLine(subject: string, detail: string): string {
  const line = inOneLine(`${subject}: ${detail}`.replaceAll(/\s+/g, " "));
  return `${line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 3)}...` : line}\n`;
}

/** @param findings all of one code */
function rowsOf(
  system: OperatorSystem,
  findings: readonly Finding[],
  left: ReadonlySet<Finding>,
): readonly (readonly string[])[] {
  const paint = painter(system);
  const colour = (severity: Severity): string =>
    severity === "info" ? severity : paint(severity, severity);
  const rows = findings.slice(0, MAX_SHOWN).map((finding) => {
    const { network, path, message } = finding;
    const cells = [
      network || "-",
      path || "-",
      left.has(finding) ? message : `${message}; removed`,
    ];
    return [
      colour(severityOf(finding)),
      finding.code,
      ...cells.map((cell) => shortenIds(system, cell)),
    ];
  });
  const [first] = findings;
  const more = findings.length - MAX_SHOWN;
  if (first === undefined || more <= 0) return rows;
  const cells = [first.code, "-", "-", moreText(findings.length, more)];
  return [...rows, [colour(severityOf(first)), ...cells]];
}

/** That there are more than are shown, and how many JSON has, of each network. */
function moreText(all: number, more: number): string {
  return `${more} more; --json lists ${all > MOST_LISTED ? `${MOST_LISTED} of each network` : "all"}`;
}

/**
 * The remedy for findings; their commands are on lines of their own, to be copied.
 *
 * @param findings all of one code, and with one remedy
 */
function remediesOf(context: Context, findings: readonly Finding[]): string {
  const [first] = findings;
  if (first === undefined) return "";
  const lines = findings.flatMap(({ commands = [] }) =>
    commands.map((one) => formatRemedyCommand(context, one)),
  );
  const commands = [...new Set(lines)];
  const shown = commands.slice(0, MAX_SHOWN).map((command) => `    ${command}\n`);
  const more = commands.length - shown.length;
  if (more > 0) shown.push(`    (${moreText(commands.length, more)})\n`);
  return `  ${first.code}: ${remedyOf(first)}\n${shown.join("")}`;
}
