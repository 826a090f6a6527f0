/** The text that `check` prints: the findings, and below those of one kind what is done about them. */

import type { Context } from "../../cli/command/command.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { plural } from "../../cli/output/plural.ts";
import { painter, shortenIds, tableWidth } from "../../cli/output/terminal.ts";
import { wrap } from "../../cli/output/wrap.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { type Finding, MOST_LISTED, remedyOf, severityOf } from "./finding.ts";
import { formatRemedyCommand } from "./remedy-command.ts";

/** The number of lines for findings of one kind, and of their commands; the JSON has more. */
const MAX_SHOWN = 20;

/** The `max_output_length` of node-problem-detector, in characters. */
const MAX_LINE_LENGTH = 80;

/**
 * The findings with their remedies and commands, those of one code and remedy together, and a last line that counts them by code.
 *
 * @param findings sorted by severity
 * @param left those of them that were not repaired
 */
export function formatFindings(
  context: Context,
  findings: readonly Finding[],
  left: readonly Finding[],
): string {
  if (findings.length === 0) return "No problems found.\n";
  const remaining = new Set(left);
  const kindOf = (finding: Finding): string => {
    const remedy = remaining.has(finding) ? remedyOf(finding) : "";
    return [severityOf(finding), finding.code, remedy].join("\n");
  };
  const kinds = [...Map.groupBy(findings, kindOf).values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const isLeft = remaining.has(first);
    const end = isLeft ? "" : "; removed";
    const lines = firstLines(own, (finding) => lineOf(context.system, finding, end));
    return `${lines}${isLeft ? formatRemedy(context, own, remedyOf(first)) : ""}\n`;
  });
  const repaired = findings.length - left.length;
  const repairs = repaired === 0 ? "" : `; ${repaired} repaired`;
  return `${kinds.join("")}${formatCounts(left)}${repairs}\n`;
}

/** A single line, cut off at the length that node-problem-detector accepts. */
export function problemLine(subject: string, detail: string): string {
  const line = inOneLine(`${subject}: ${detail}`.replaceAll(/\s+/g, " "));
  return `${line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 3)}...` : line}\n`;
}

/** The line of a finding. */
function lineOf(system: OperatorSystem, finding: Finding, end: string): string {
  const { code, network, path, message } = finding;
  const severity = severityOf(finding);
  const subject = [severity, code, network, path].filter((word) => word !== "").join(" ");
  const text = shortenIds(system, inOneLine(`${subject}: ${message}${end}`));
  const line = inWidth(system, text, "", "    ");
  const paint = painter(system);
  return severity === "info" ? line : paint(severity, severity) + line.slice(severity.length);
}

/**
 * The remedy for findings; their commands are on lines of their own, to be copied.
 *
 * @param remedy that of all of them
 */
function formatRemedy(context: Context, findings: readonly Finding[], remedy: string): string {
  const all = new Set(findings.flatMap(({ commands = [] }) => commands));
  const commands = new Set([...all].map((command) => formatRemedyCommand(context, command)));
  const text = inWidth(context.system, inOneLine(`What to do: ${remedy}`), "  ", "  ");
  return `${text}${firstLines([...commands], (command) => `    ${command}\n`)}`;
}

/** The lines of the first, and how many more there are. */
function firstLines<T>(all: readonly T[], lineOf: (element: T) => string): string {
  const lines = all.slice(0, MAX_SHOWN).map(lineOf);
  const more = all.length - lines.length;
  if (more > 0) {
    lines.push(`    (${more} more; --json lists up to ${MOST_LISTED} of each network)\n`);
  }
  return lines.join("");
}

/** A text in lines that fit on the terminal, where it is one. */
function inWidth(system: OperatorSystem, text: string, first: string, others: string): string {
  const width = tableWidth(system) ?? Number.POSITIVE_INFINITY;
  return `${first}${wrap(text, width - others.length).join(`\n${others}`)}\n`;
}

/** How many there are of each severity, and of each code. */
function formatCounts(left: readonly Finding[]): string {
  const shown = [...Map.groupBy(left, severityOf)].map(([severity, own]) => {
    const codes = [...Map.groupBy(own, ({ code }) => code)].map(([code, { length }]) =>
      length > 1 ? `${code} (${length})` : code,
    );
    const count = severity === "info" ? `${own.length} info` : plural(own.length, severity);
    return `${count}: ${codes.join(", ")}`;
  });
  return shown.length === 0 ? "No problem is left" : shown.join("; ");
}
