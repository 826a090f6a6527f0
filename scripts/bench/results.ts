/** What a run of the benchmark found. */

import type { ProgramName } from "./programs.ts";

/** The numbers of reservations at which everything is measured. */
export const SIZES = [0, 250, 10_000, 60_000] as const;

/** How many calls a burst has. */
export const BURST = 250;

/** What an ADD is called before which another program has written. */
export const AFTER_FOREIGN_WRITE = "ADD after a foreign write";

/** The verbs of a round, and those whose instructions are counted. */
export const VERBS = ["VERSION", "ADD", "DEL"] as const;

export type Verb = (typeof VERBS)[number];

/** What a burst is called. */
export function burstName(verb: string): string {
  return `${BURST} × ${verb} at once`;
}

/** The middle of some numbers, and how far they spread. */
export interface Spread {
  readonly median: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** The same call of one program, again and again. */
export interface Measurement {
  readonly program: ProgramName;
  /** The call, as the table names it. */
  readonly call: string;
  /** How many reservations there were. */
  readonly reservations: number;
  /** Wall time, in milliseconds. */
  readonly time: Spread;
  /** The peak of resident memory, in MB. */
  readonly memory: Spread;
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
  /** The Go plugin's version. */
  readonly goVersion: string;
  /** The size of each program's file, in bytes. */
  readonly bytes: Readonly<Partial<Record<ProgramName, number>>>;
  readonly measurements: readonly Measurement[];
  /** Instructions of a call of the native executable in user mode, by callgrind; empty without valgrind. */
  readonly instructions: Readonly<Partial<Record<Verb, number>>>;
}

/**
 * Sums up numbers.
 *
 * @throws when there are none
 */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (index: number): number => {
    const value = sorted[index];
    if (value === undefined) throw new Error("There is nothing to take the median of.");
    return Number(value.toPrecision(4));
  };
  return {
    median: at(Math.floor(sorted.length / 2)),
    minimum: at(0),
    maximum: at(sorted.length - 1),
  };
}

/** What was measured of a program; `undefined` where it was not. */
export function measurementOf(
  { measurements }: Results,
  program: ProgramName,
  call: string,
  reservations: number,
): Measurement | undefined {
  return measurements.find(
    (one) => one.program === program && one.call === call && one.reservations === reservations,
  );
}

/** What the numbers were measured on. */
export function describeMachine(results: Results): string {
  const { date, cores, kernel, architecture, fileSystem } = results;
  return `${date}, ${cores} cores, Linux ${kernel}, ${architecture}, data on ${fileSystem}`;
}

/** A whole number with its digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, " ");
}
