/** The tables of the benchmark, in Markdown. */

import type { ProgramName } from "./bench-programs.ts";
import {
  AFTER_FOREIGN_WRITE,
  burstName,
  grouped,
  megabytes,
  milliseconds,
  type Results,
  type Series,
  SIZES,
  type Spread,
  seriesOf,
  WITHOUT_INDEX,
} from "./bench-results.ts";
import { CAPACITY } from "./bench-store.ts";

/** Ratios that are aimed at, and those that were found; `undefined` where there is none. */
interface Comparison {
  readonly title: string;
  /** The native executable to the Go plugin. */
  readonly native: Goal | undefined;
  /** The portable executable to the empty program. */
  readonly portable: Goal | undefined;
}

interface Goal {
  readonly ratio: number | undefined;
  readonly limit: number | undefined;
}

/** The most that an ADD or DEL of the native executable may take of the Go plugin's time. */
const NATIVE_LIMITS = new Map([
  [0, 0.8],
  [250, 0.4],
  [60_000, 0.01],
]);

const PORTABLE_LIMIT = 1.25;

/** The calls, in the order of the tables. */
const CALLS: readonly string[] = [
  ...["VERSION", "STATUS", "ADD", "CHECK", "DEL"],
  ...[WITHOUT_INDEX, AFTER_FOREIGN_WRITE],
  ...["ADD", "DEL"].map(burstName),
];

/** The ratios of the medians beside the targets. */
export function targetTable(results: Results): string {
  const rows = comparisons(results).map(({ title, native, portable }) => [
    title,
    ...goalCells(native),
    ...goalCells(portable),
  ]);
  const head = ["", "native / Go", "target", "", "portable / empty", "target", ""];
  return formatTable([head, ...rows]);
}

/** Medians of the wall time, with minimum and maximum. */
export function timeTable(results: Results): string {
  return spreadTable(results, (series) => formatSpread(milliseconds(series), formatTime));
}

/** Medians of the peak of resident memory of ADDs, with minimum and maximum. */
export function memoryTable(results: Results): string {
  const series = results.series.filter(({ call }) => call.includes("ADD"));
  return spreadTable({ ...results, series }, (series) =>
    formatSpread(megabytes(series), formatSize),
  );
}

/** The size of each program's file. */
export function fileTable({ programs }: Results): string {
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
  const titles = { go: `Go ${version}`, native: "native", portable: "portable", empty: "empty" };
  return titles[name];
}

function comparisons(results: Results): readonly Comparison[] {
  const time = (a: ProgramName, b: ProgramName, call: string, size: number, base = call) =>
    ratioOf(results, [a, call], [b, base], size, milliseconds);
  const againstGo = (title: string, call: string, size: number): Comparison => ({
    title,
    native: { ratio: time("native", "go", call, size), limit: 0.8 },
    portable: undefined,
  });
  const withoutLimit = (title: string, size: number): Comparison => ({
    title,
    native: { ratio: time("native", "go", "ADD", size), limit: undefined },
    portable: { ratio: time("portable", "empty", "ADD", size), limit: undefined },
  });
  const reservations = (size: number): string => `at ${grouped(size)}`;
  return [
    ...SIZES.flatMap((size) =>
      ["ADD", "DEL"].map((verb) => ({
        title: `${verb} ${reservations(size)}`,
        native: { ratio: time("native", "go", verb, size), limit: NATIVE_LIMITS.get(size) },
        portable: {
          ratio: time("portable", "empty", verb, size, "ADD"),
          limit: PORTABLE_LIMIT,
        },
      })),
    ),
    withoutLimit("ADD where one is free", CAPACITY - 1),
    withoutLimit("ADD where none is free", CAPACITY),
    ...["ADD", "DEL"].map((verb) => againstGo(burstName(verb), burstName(verb), 0)),
    againstGo("VERSION", "VERSION", 0),
    ...SIZES.map((size) => againstGo(`STATUS ${reservations(size)}`, "STATUS", size)),
    ...SIZES.map((size) => ({
      title: `peak memory, ADD ${reservations(size)}`,
      native: {
        ratio: ratioOf(results, ["native", "ADD"], ["go", "ADD"], size, megabytes),
        limit: 0.9,
      },
      portable: undefined,
    })),
    {
      title: "file size",
      native: { ratio: bytesOf(results, "native") / bytesOf(results, "go"), limit: 0.9 },
      portable: undefined,
    },
  ];
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

function goalCells(goal: Goal | undefined): readonly string[] {
  if (goal === undefined) return ["", "", ""];
  const { ratio, limit } = goal;
  const decision = ratio === undefined || limit === undefined ? "" : reached(ratio, limit);
  return [formatRatio(ratio), limit === undefined ? "" : `≤ ${limit}`, decision];
}

function reached(ratio: number, limit: number): string {
  return ratio <= limit ? "reached" : "missed";
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
