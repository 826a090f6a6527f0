/** How many addresses of a range set may have been taken at most, at any time of a storm. */

import type { History } from "./storm-history.ts";
import type { Operation } from "./storm-log.ts";

/** An upper bound: who may hold an address counts as one who does. */
export class StormOccupancy {
  readonly #times: readonly number[];
  readonly #counts: readonly number[];

  /** @param operations the calls of the network, for what the Go plugin leaves when it is killed */
  constructor(histories: readonly History[], operations: readonly Operation[]) {
    const debris = operations.filter(
      ({ program, verb, answer }) => program === "Go" && verb === "ADD" && answer === "killed",
    );
    const steps = [
      ...histories.flatMap(({ mayHold }) => mayHold),
      ...debris.map(({ end }) => ({ from: end, to: Number.POSITIVE_INFINITY })),
    ]
      .flatMap(({ from, to }) => [
        { time: from, step: 1 },
        { time: to, step: -1 },
      ])
      // Where one ends as another begins, both may have been there.
      .sort((a, b) => a.time - b.time || b.step - a.step);
    let count = 0;
    this.#times = steps.map(({ time }) => time);
    this.#counts = steps.map(({ step }) => {
      count += step;
      return count;
    });
  }

  /** The highest count while a call ran. */
  highest({ start, end }: Pick<Operation, "start" | "end">): number {
    let at = this.#lastBefore(start);
    let highest = this.#counts[at] ?? 0;
    for (at++; at < this.#times.length && (this.#times[at] ?? end) <= end; at++) {
      highest = Math.max(highest, this.#counts[at] ?? 0);
    }
    return highest;
  }

  #lastBefore(time: number): number {
    let low = -1;
    let high = this.#times.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] ?? time) < time) low = middle;
      else high = middle;
    }
    return low;
  }
}
