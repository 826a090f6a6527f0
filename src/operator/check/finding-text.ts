/** The text that `check` prints. */

import { inOneLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { painter, shortenIds, tableWidth } from "../../cli/output/terminal.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import {
  type Code,
  type Counts,
  type Finding,
  networkOf,
  remedyOf,
  type Severity,
  severityOf,
} from "./finding.ts";

/** The number of findings, and of commands, shown for each code; the JSON has all. */
const MAX_SHOWN = 20;

/** The `max_output_length` of node-problem-detector, in characters. */
const MAX_LINE_LENGTH = 80;

/** A table of findings, the remedy for each code with its commands, and a line of counts. */
export function formatFindings(
  system: OperatorSystem,
  findings: readonly Finding[],
  { error, warning, info }: Counts,
): string {
  if (findings.length === 0) return "No problems found.\n";
  const paint = painter(system);
  const colour = (severity: Severity): string =>
    severity === "info" ? severity : paint(severity, severity);
  const codes = [...new Set(findings.map(({ code }) => code))];
  const rows = codes.flatMap((code) => rowsOf(code, findings));
  const table = formatTable(
    columns("SEVERITY", "CODE", "NETWORK", "PATH", "MESSAGE"),
    rows.map(({ severity, cells }) => [
      colour(severity),
      ...cells.map((cell) => shortenIds(system, cell)),
    ]),
    { width: tableWidth(system) },
  );
  const remedies = codes.flatMap((code) => {
    const own = findings.filter((one) => one.code === code);
    return [...Map.groupBy(own, remedyOf).values()].map(remediesOf);
  });
  const counts = `${plural(error, "error")}, ${plural(warning, "warning")}, ${info} info`;
  return `${table}\nWhat to do:\n${remedies.join("")}\n${counts}\n`;
}

/** A single line, cut off at the length that node-problem-detector accepts. */
export function problemLine(subject: string, detail: string): string {
  const line = inOneLine(`${subject}: ${detail}`.replaceAll(/\s+/g, " "));
  return `${line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 3)}...` : line}\n`;
}

interface Row {
  readonly severity: Severity;
  readonly cells: readonly string[];
}

function rowsOf(code: Code, findings: readonly Finding[]): readonly Row[] {
  const own = findings.filter((one) => one.code === code);
  const rows = own.slice(0, MAX_SHOWN).map((finding): Row => {
    const cells = [code, networkOf(finding) || "-", finding.path || "-", finding.message];
    return { severity: severityOf(finding), cells };
  });
  const [first] = own;
  if (first === undefined || own.length <= MAX_SHOWN) return rows;
  const more = `${own.length - MAX_SHOWN} more; --json lists all`;
  return [...rows, { severity: severityOf(first), cells: [code, "-", "-", more] }];
}

/**
 * The remedy for findings; their commands are on lines of their own, to be copied.
 *
 * @param findings all of one code, and with one remedy
 */
function remediesOf(findings: readonly Finding[]): string {
  const [first] = findings;
  if (first === undefined) return "";
  const commands = [...new Set(findings.flatMap(({ commands = [] }) => commands))];
  const shown = commands.slice(0, MAX_SHOWN).map((command) => `    ${command}\n`);
  const more = commands.length - shown.length;
  if (more > 0) shown.push(`    (${more} more; --json lists all)\n`);
  return `  ${first.code}: ${remedyOf(first)}\n${shown.join("")}`;
}
