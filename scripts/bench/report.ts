/** The tables of the benchmark, in Markdown. */

import type { ProgramName } from "./programs.ts";
import {
  AFTER_FOREIGN_WRITE,
  burstName,
  COUNTED,
  FIRST_EVER,
  grouped,
  megabytes,
  milliseconds,
  processorTime,
  REPEATED_DEL,
  type Results,
  type Series,
  SIZES,
  type Spread,
  seriesOf,
} from "./results.ts";
import { CAPACITY } from "./store.ts";

/** What was found, and the goal; `undefined` where it was not measured, or there is none. */
interface Row {
  readonly title: string;
  /** What is divided by what, or the unit. */
  readonly of: string;
  readonly found: number | undefined;
  readonly limit?: number | undefined;
}

/** The most that an ADD or DEL of the native executable may take of the Go plugin's time. */
const LIMITS: readonly (readonly [size: number, limit: number])[] = [
  [0, 0.45],
  [250, 0.22],
  [10_000, 0.02],
  [60_000, 0.005],
];

/** In millions. */
const INSTRUCTION_LIMITS = { VERSION: 0.15, ADD: 2.1, DEL: 1.2 } as const;

/** The calls, in the order of the tables. */
const CALLS: readonly string[] = [
  ...["VERSION", "STATUS", "ADD", "CHECK", "DEL"],
  ...[REPEATED_DEL, AFTER_FOREIGN_WRITE, FIRST_EVER],
  ...["ADD", "DEL"].map(burstName),
];

/** What was found beside the goals. */
export function goalTable(results: Results): string {
  const rows = goalRows(results).map(({ title, of, found, limit }) => [
    title,
    of,
    formatRatio(found),
    limit === undefined ? "" : `≤ ${limit}`,
    found === undefined || limit === undefined ? "" : found <= limit ? "pass" : "fail",
  ]);
  return formatTable([["", "", "found", "goal", ""], ...rows]);
}

/** Medians of the wall time, with minimum and maximum. */
export function timeTable(results: Results): string {
  return spreadTable(results, (series) => formatSpread(milliseconds(series), formatTime));
}

/** Medians of the processor time of user and system, with minimum and maximum. */
export function processorTable(results: Results): string {
  return spreadTable(results, (series) => formatSpread(processorTime(series), formatTime));
}

/** Medians of the peak of resident memory of ADDs, with minimum and maximum. */
export function memoryTable(results: Results): string {
  const series = results.series.filter(({ call }) => call.includes("ADD"));
  return spreadTable({ ...results, series }, (series) =>
    formatSpread(megabytes(series), formatSize),
  );
}

/** The size of each program's file. */
export function fileTable({ programs: all }: Results): string {
  const programs = all.filter(({ bytes }) => bytes > 0);
  const sizes = programs.map(({ bytes }) => formatSize(bytes / 1e6));
  return formatTable([
    ["", ...programs.map(titleOf)],
    ["file", ...sizes],
  ]);
}

/** What the numbers were measured on. */
export function describeMachine({
  date,
  cores,
  kernel,
  architecture,
  fileSystem,
}: Results): string {
  return `${date}, ${cores} cores, Linux ${kernel}, ${architecture}, data on ${fileSystem}`;
}

/** What a program is called in tables. */
function titleOf({ name, version }: Results["programs"][number]): string {
  return name === "go" ? `Go ${version}` : name;
}

function goalRows(results: Results): readonly Row[] {
  const time = (a: ProgramName, b: ProgramName, call: string, size: number, base = call) =>
    ratioOf(results, [a, call], [b, base], size, milliseconds);
  const sizes = SIZES.filter((size) => size > 0);
  const verbs = ["ADD", "DEL"];
  const toGo = (title: string, call: string, size: number, limit?: number, base = call): Row => ({
    title: `${title}${describeSize(size)}`,
    of: "native ÷ Go",
    found: time("native", "go", call, size, base),
    limit,
  });
  const ratiosOf = (
    name: ProgramName,
    base: ProgramName,
    limitAt: (size: number) => number | undefined,
  ): readonly Row[] =>
    SIZES.flatMap((size) =>
      verbs.map((verb) => ({
        title: `${verb}${describeSize(size)}`,
        of: `${name} ÷ ${base}`,
        found: time(name, base, verb, size),
        limit: limitAt(size),
      })),
    );
  return [
    toGo("VERSION", "VERSION", 0, 0.25),
    ...LIMITS.flatMap(([size, limit]) => verbs.map((verb) => toGo(verb, verb, size, limit))),
    ...verbs.map((verb) => toGo(burstName(verb), burstName(verb), 0, 0.4)),
    ...sizes.map((size) => toGo(REPEATED_DEL, REPEATED_DEL, size, 0.6)),
    ...sizes.map((size) => toGo(AFTER_FOREIGN_WRITE, AFTER_FOREIGN_WRITE, size, 0.6, "ADD")),
    ...sizes.map((size) => toGo(FIRST_EVER, FIRST_EVER, size, undefined, "ADD")),
    toGo("ADD", "ADD", CAPACITY - 1, 0.15),
    toGo("ADD", "ADD", CAPACITY),
    ...["STATUS", "CHECK"].flatMap((verb) => SIZES.map((size) => toGo(verb, verb, size))),
    ...[...SIZES, CAPACITY - 1, CAPACITY].map(
      (size): Row => ({
        title: `peak memory, ADD${describeSize(size)}`,
        of: "native ÷ Go",
        found: ratioOf(results, ["native", "ADD"], ["go", "ADD"], size, megabytes),
        limit: 0.5,
      }),
    ),
    {
      title: "file size",
      of: "native ÷ Go",
      found: bytesOf(results, "native") / bytesOf(results, "go"),
      limit: 0.9,
    },
    ...COUNTED.map(
      (verb): Row => ({
        title: verb,
        of: "million instructions",
        found: millions(results.instructions[verb]),
        limit: INSTRUCTION_LIMITS[verb],
      }),
    ),
    ...ratiosOf("native", "floor", () => 2),
    ...ratiosOf("portable", "before", (size) => (size <= 250 ? 1 : undefined)),
    ...SIZES.map(
      (size): Row => ({
        title: `ADD${describeSize(size)}`,
        of: "portable ÷ empty",
        found: time("portable", "empty", "ADD", size),
      }),
    ),
  ].filter(({ found }) => found !== undefined);
}

function millions(count: number | undefined): number | undefined {
  return count === undefined ? undefined : count / 1e6;
}

function describeSize(size: number): string {
  return ` at ${describeReservations(size)}`;
}

/** The ratio of two medians; `undefined` where one was not measured. */
function ratioOf(
  results: Results,
  [program, call]: readonly [ProgramName, string],
  [baseProgram, baseCall]: readonly [ProgramName, string],
  size: number,
  measure: (series: Series) => Spread,
): number | undefined {
  const series = seriesOf(results, program, call, size);
  const base = seriesOf(results, baseProgram, baseCall, size);
  if (series === undefined || base === undefined) return undefined;
  return measure(series).median / measure(base).median;
}

function bytesOf({ programs }: Results, name: ProgramName): number {
  return programs.find((program) => program.name === name)?.bytes ?? Number.NaN;
}

/** A row for each call at each number of reservations, a column for each program. */
function spreadTable(results: Results, format: (series: Series) => string): string {
  const { programs, series } = results;
  const keys = new Map(
    series.map(({ call, reservations }) => [`${call} ${reservations}`, { call, reservations }]),
  );
  const inOrder = [...keys.values()].sort(
    (a, b) => CALLS.indexOf(a.call) - CALLS.indexOf(b.call) || a.reservations - b.reservations,
  );
  const rows = inOrder.map(({ call, reservations }) => [
    call,
    describeReservations(reservations),
    ...programs.map(({ name }) => {
      const found = seriesOf(results, name, call, reservations);
      return found === undefined ? "" : format(found);
    }),
  ]);
  return formatTable([["call", "reservations", ...programs.map(titleOf)], ...rows]);
}

function describeReservations(count: number): string {
  if (count === CAPACITY) return `${grouped(count)}: full, refused`;
  if (count === CAPACITY - 1) return `${grouped(count)}: one is free`;
  return grouped(count);
}

function formatSpread(spread: Spread, format: (value: number) => string): string {
  const { median, minimum, maximum } = spread;
  const [middle, least, most] = [median, minimum, maximum].map(format);
  return least === most ? `${middle}` : `${middle} (${least}–${most})`;
}

function formatTime(value: number): string {
  if (value >= 100) return grouped(Math.round(value));
  return value.toFixed(value < 10 ? 2 : 1);
}

function formatSize(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

/** Three digits that count. */
function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? "–" : String(Number(ratio.toPrecision(3)));
}

/** A Markdown table whose columns stand one below the other in plain text, too. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}
