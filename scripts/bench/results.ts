/** What a run of the benchmark found. */

import type { ProgramName } from "./programs.ts";

/** The numbers of reservations at which everything is measured. */
export const SIZES = [0, 250, 10_000, 60_000] as const;

/** How many calls a burst has. */
export const BURST = 250;

/** What an ADD is called in the tables that finds nothing but the Go plugin's files. */
export const FIRST_EVER = "first ADD ever";

/** What an ADD is called in the tables before which another program has written. */
export const AFTER_FOREIGN_WRITE = "ADD after a foreign write";

/** What a DEL is called in the tables that has nothing left to release. */
export const REPEATED_DEL = "repeated DEL";

/** The verbs whose instructions are counted. */
export const COUNTED = ["VERSION", "ADD", "DEL"] as const;

/** What a burst is called in the tables. */
export function burstName(verb: string): string {
  return `${BURST} × ${verb} at once`;
}

/** The same call of one program, again and again. */
export interface Series {
  readonly program: ProgramName;
  /** The call, as the tables name it. */
  readonly call: string;
  /** How many reservations there were. */
  readonly reservations: number;
  /** Wall time of each call, in the order of the calls. */
  readonly microseconds: number[];
  /** Processor time of each call, in microseconds. */
  readonly processor: number[];
  /** The peak of resident memory of each call, in KiB. */
  readonly kilobytes: number[];
}

export interface Results {
  /** The day, as YYYY-MM-DD. */
  readonly date: string;
  readonly cores: number;
  /** The kernel's release. */
  readonly kernel: string;
  readonly architecture: string;
  /** The type of the file system that held the data directories. */
  readonly fileSystem: string;
  readonly programs: readonly {
    readonly name: ProgramName;
    readonly version: string;
    readonly bytes: number;
  }[];
  readonly series: readonly Series[];
  /** Instructions of a call of the native executable in user mode, by callgrind; empty without valgrind. */
  readonly instructions: Readonly<Record<string, number>>;
}

/** The middle of some numbers, and how far they spread. */
export interface Spread {
  readonly median: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** @throws when there are no numbers */
function spreadOf(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (index: number): number => {
    const value = sorted[index];
    if (value === undefined) throw new Error("There is nothing to take the median of.");
    return value;
  };
  const middle = sorted.length / 2;
  const median = (at(Math.ceil(middle) - 1) + at(Math.floor(middle))) / 2;
  return { median, minimum: at(0), maximum: at(sorted.length - 1) };
}

/** The series of a program; `undefined` where it was not measured. */
export function seriesOf(
  { series }: Results,
  program: ProgramName,
  call: string,
  reservations: number,
): Series | undefined {
  return series.find(
    (one) => one.program === program && one.call === call && one.reservations === reservations,
  );
}

/** The median of a program's calls in milliseconds, and how far they spread. */
export function milliseconds(series: Series): Spread {
  return spreadOf(series.microseconds.map((time) => time / 1000));
}

/** The median of the processor time of a program's calls in milliseconds, and how far it spreads. */
export function processorTime(series: Series): Spread {
  return spreadOf(series.processor.map((time) => time / 1000));
}

/** The median of a program's peaks of resident memory in MB, and how far they spread. */
export function megabytes(series: Series): Spread {
  return spreadOf(series.kilobytes.map((size) => (size * 1024) / 1e6));
}

/** A whole number with its digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, " ");
}
