/** A part of what a scenario tries, where a run is to be shorter. */

import { sample } from "../../harness/sample.ts";
import type { Context } from "./scenario.ts";

/** All in a full run; in a short one a third, and of the slow portable executable a ninth. */
export function shortSampleOf<T>({ subject, extent, seed }: Context, items: readonly T[]) {
  if (extent !== "short") return items;
  return sample(items, subject.name === "portable" ? 9 : 3, seed);
}

/** As `shortSampleOf`; of the portable executable a third in a full run. */
export function sampleOf<T>(context: Context, items: readonly T[]): readonly T[] {
  const { subject, extent, seed } = context;
  if (extent === "full" && subject.name === "portable") return sample(items, 3, seed);
  return shortSampleOf(context, items);
}
