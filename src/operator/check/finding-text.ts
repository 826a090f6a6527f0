/** Findings for people, and for node-problem-detector. */

import type { OperatorSystem } from "../../system/operator-system.ts";
import { columns, formatTable } from "../output/table.ts";
import { painter } from "../output/terminal.ts";
import { type Code, type Finding, remedyOf, type Severity, severityOf } from "./finding.ts";
import type { Repairs } from "./repair.ts";

/** So many findings of one code are shown; the JSON has all. */
const SHOWN = 20;

/** node-problem-detector shows no more of a message (`max_output_length`). */
const LONGEST_LINE = 80;

/** A table of findings, what to do about each code, and a closing line. */
export function formatFindings(
  system: OperatorSystem,
  findings: readonly Finding[],
  repairs: Repairs,
): string {
  if (findings.length === 0) return "Nothing is wrong.\n";
  const paint = painter(system);
  const colour = (severity: Severity): string =>
    severity === "info" ? severity : paint(severity, severity);
  const codes = [...new Set(findings.map(({ code }) => code))];
  const rows = codes.flatMap((code) => rowsOf(code, findings, repairs));
  const open = codes.filter((code) =>
    findings.some((one) => one.code === code && !repairs.has(one)),
  );
  const table = formatTable(
    columns("SEVERITY", "CODE", "NETWORK", "WHERE", "WHAT"),
    rows.map(({ severity, cells }) => [colour(severity), ...cells]),
  );
  const remedies = open.map((code) => `  ${code}: ${remedyOf({ code })}\n`);
  const next = open.length === 0 ? "" : `\nWhat to do:\n${remedies.join("")}`;
  return `${table}${next}\n${closingLine(findings, repairs)}`;
}

/** One line without line ends inside, cut off where it is too long. */
export function problemLine(subject: string, detail: string): string {
  const line = `${subject}: ${detail}`.replaceAll(/\s+/g, " ");
  return `${line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 3)}...` : line}\n`;
}

interface Row {
  readonly severity: Severity;
  readonly cells: readonly string[];
}

function rowsOf(code: Code, findings: readonly Finding[], repairs: Repairs): readonly Row[] {
  const own = findings.filter((one) => one.code === code);
  const rows = own.slice(0, SHOWN).map((finding): Row => {
    const done = repairs.get(finding);
    const what = done === undefined ? finding.message : `${finding.message}; ${done}`;
    const { network, path } = finding;
    return { severity: severityOf(finding), cells: [code, network || "-", path || "-", what] };
  });
  const [first] = own;
  if (first === undefined || own.length <= SHOWN) return rows;
  const more = `${own.length - SHOWN} more; --json lists all`;
  return [...rows, { severity: severityOf(first), cells: [code, "-", "-", more] }];
}

function closingLine(findings: readonly Finding[], repairs: Repairs): string {
  const count = (severity: Severity): number =>
    findings.filter((one) => severityOf(one) === severity && !repairs.has(one)).length;
  const parts = [
    numbered(count("error"), "error"),
    numbered(count("warning"), "warning"),
    `${count("info")} only good to know`,
  ];
  const repaired = repairs.size === 0 ? "" : `; ${repairs.size} repaired`;
  return `${parts.join(", ")}${repaired}\n`;
}

function numbered(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
