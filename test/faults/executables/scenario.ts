/** Scenarios of faults, and the way their attempts are made. */

import type { Test } from "tap";
import type { Extent } from "../../harness/extent.ts";
import { sample } from "../../harness/sample.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier, type Violation } from "../../harness/violations.ts";
import type { Subject } from "./subject.ts";

/** One attempt with one fault. */
export interface Attempt {
  readonly what: string;
  readonly violations: readonly Violation[];
}

/** The executable into which faults are injected, and the number of faults. */
export interface Context {
  readonly subject: Subject;
  readonly extent: Extent;
  readonly seed: number;
  /** Registers a function that runs after the scenario. */
  readonly teardown: Test["teardown"];
}

/** A kind of fault, and the promise that must hold after it. */
export interface Scenario {
  /** The fault, as a row of the table names it. */
  readonly fault: string;
  /** The promise. */
  readonly promise: string;
  /** Why it cannot run here; `undefined` if it can. */
  readonly obstacle?: () => string | undefined;
  readonly attempt: (context: Context) => Promise<readonly Attempt[]>;
}

/** An attempt while it is made. */
export interface Trial extends Context {
  readonly verifier: Verifier;
}

/** The result of an attempt that could not be made. */
export const NOT_MADE = Symbol("not made");

/** A row of a scenario. */
export interface Case {
  /** The attempt in words. */
  readonly what: string;
}

/** The way the cases of a scenario are tried. */
interface Extents {
  /** How many cases are tried at once; 3 by default. */
  readonly atOnce?: number;
  /** Chooses the cases; by default `sampleOf`. */
  readonly some?: <T>(context: Context, cases: readonly T[]) => readonly T[];
}

/**
 * Makes an attempt of each case.
 *
 * @param cases all cases, or a function that returns the cases of a run
 * @param attempt makes an attempt; its result is `NOT_MADE` if that was not possible
 */
export function eachOf<C extends Case>(
  cases: readonly C[] | ((context: Context) => readonly C[] | Promise<readonly C[]>),
  attempt: (trial: Trial, row: C) => Promise<unknown>,
  { atOnce = 3, some = sampleOf }: Extents = {},
): Scenario["attempt"] {
  return async (context) => {
    const all = typeof cases === "function" ? await cases(context) : cases;
    const attempts = await sideBySide(some(context, all), atOnce, async (row) => {
      const verifier = new Verifier();
      const result = await attempt({ ...context, verifier }, row);
      return result === NOT_MADE ? [] : [{ what: row.what, violations: verifier.violations }];
    });
    return attempts.flat();
  };
}

/** How many items there are for each one tried, by extent: the portable executable is slow, and differs in its engine only. */
const oneIn = {
  short: { native: 5, portable: 15, Go: 5 },
  full: { native: 1, portable: 5, Go: 1 },
  exhaustive: { native: 1, portable: 1, Go: 1 },
} as const;

/** The items to try in the extent of the run. */
export function sampleOf<T>({ subject, extent, seed }: Context, items: readonly T[]) {
  return sample(items, oneIn[extent][subject.name], seed);
}

/** All items, for cases that every run tries. */
export function allOf<T>(_: Context, items: readonly T[]): readonly T[] {
  return items;
}
