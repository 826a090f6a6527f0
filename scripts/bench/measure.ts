/** What is measured: the same calls of every program in turn, on stores of the same content. */

import type { Outcome, Runner } from "./runner.ts";
import {
  CAPACITY,
  type Contender,
  type ProgramName,
  release,
  reserve,
  setCursor,
  touch,
} from "./store.ts";

/** A line of the table. */
export interface Row {
  /** The call, and how many reservations there were. */
  readonly title: string;
  /** The medians of each program that was measured: wall time, and the peak of resident memory. */
  readonly milliseconds: Values;
  readonly megabytes: Values;
}

/** A number for each program that has one. */
export type Values = Readonly<Partial<Record<ProgramName, number>>>;

/** The numbers of reservations at which everything is measured, and how often. */
const sizes = [
  { reservations: 0, rounds: 120, disturbed: 15 },
  { reservations: 250, rounds: 120, disturbed: 15 },
  { reservations: 10_000, rounds: 40, disturbed: 11 },
  { reservations: 60_000, rounds: 11, disturbed: 7 },
] as const;

const WARM_UP_ROUNDS = 2;

/** How many calls a burst has, and how often. */
const BURST = { calls: 250, times: 9 };

/** Rounds with one free address, and in a full range. */
const NEARLY_FULL = 7;
const FULL = 3;

/** The place of the address that stays free in a nearly full range. */
const LAST_FREE = CAPACITY >> 1;

/** Measures everything, and reports what is next. */
export class Measurement {
  readonly #run: Runner;
  readonly #outcomes = new Map<string, Map<ProgramName, Outcome[]>>();

  constructor(run: Runner) {
    this.#run = run;
  }

  /** What was measured, in its order. */
  get rows(): readonly Row[] {
    const medians = (row: Map<ProgramName, Outcome[]>, member: "milliseconds" | "megabytes") =>
      Object.fromEntries(
        [...row].map(([name, outcomes]) => [
          name,
          median(outcomes.map((outcome) => outcome[member])),
        ]),
      );
    return [...this.#outcomes].map(([title, row]) => ({
      title,
      milliseconds: medians(row, "milliseconds"),
      megabytes: medians(row, "megabytes"),
    }));
  }

  /** All ADDs at the same time, then all DELs. */
  bursts(programs: readonly Contender[]): void {
    for (let time = 0; time < BURST.times; time++) {
      for (const contender of programs) {
        for (const verb of ["ADD", "DEL"]) {
          const title = `${BURST.calls} × ${verb} at once`;
          this.#record(title, contender, this.#call(contender, verb, BURST.calls));
        }
      }
    }
  }

  /** Calls with more and more reservations. */
  sizes(programs: readonly Contender[]): void {
    let reserved = 0;
    for (const { reservations, rounds, disturbed } of sizes) {
      console.log(`after ${Math.round(process.uptime())} s: ${reservations} reservations`);
      for (const { store } of programs) {
        reserve(store, reserved, reservations);
        if (reservations > 0) setCursor(store, reservations - 1);
      }
      reserved = reservations;
      const at = reservations === 0 ? "" : ` at ${grouped(reservations)}`;
      const verbs = reservations === 0 ? ["VERSION", "ADD", "DEL"] : ["ADD", "DEL"];
      for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
        for (const verb of verbs) {
          for (const contender of programs) {
            const outcome = this.#call(contender, verb);
            if (round >= 0) this.#record(`${verb}${at}`, contender, outcome);
          }
        }
      }
      for (let time = 0; time < disturbed; time++) {
        for (const contender of programs) {
          touch(contender.store);
          this.#record(`ADD after an external write${at}`, contender, this.#call(contender, "ADD"));
          this.#call(contender, "DEL");
        }
      }
    }
    this.#fullRange(programs, reserved);
  }

  /** One free address, which comes last in the order of the search; then none. */
  #fullRange(programs: readonly Contender[], reserved: number): void {
    console.log(`after ${Math.round(process.uptime())} s: a full range`);
    for (const { store } of programs) {
      reserve(store, reserved, CAPACITY);
      release(store, LAST_FREE);
      setCursor(store, LAST_FREE);
    }
    for (let round = -1; round < NEARLY_FULL; round++) {
      for (const contender of programs) {
        const outcome = this.#call(contender, "ADD");
        const title = `ADD at ${grouped(CAPACITY - 1)}: one is free`;
        if (round >= 0) this.#record(title, contender, outcome);
        this.#call(contender, "DEL");
      }
    }
    for (const { store } of programs) reserve(store, LAST_FREE, LAST_FREE + 1);
    for (let round = -1; round < FULL; round++) {
      for (const contender of programs) {
        const outcome = this.#call(contender, "ADD", 1, 1);
        const title = `ADD at ${grouped(CAPACITY)}: full, refused`;
        if (round >= 0) this.#record(title, contender, outcome);
      }
    }
  }

  /** @throws where it does not answer as it must */
  #call({ name, executable, store }: Contender, verb: string, count = 1, status = 0): Outcome {
    const outcome = this.#run({ executable, configuration: store.configuration, verb }, count);
    if (outcome.status !== status || outcome.bytes > 0 !== (verb !== "DEL")) {
      throw new Error(`${verb} of ${name} went wrong: ${JSON.stringify(outcome)}`);
    }
    return outcome;
  }

  #record(title: string, { name }: Contender, outcome: Outcome): void {
    const row = this.#outcomes.get(title) ?? new Map<ProgramName, Outcome[]>();
    this.#outcomes.set(title, row.set(name, [...(row.get(name) ?? []), outcome]));
  }
}

/** The middle one. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
}

/** A whole number with its digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, " ");
}
