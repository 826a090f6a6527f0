/** A sample where a run is to be short. */

import type { Trial } from "./scenario.ts";

/** A call of the portable executable takes as long as that of dozens of the others, which are not sampled. */
const ONE_IN = 3;

/** All items, or for the portable executable in a short run one of three, as the seed decides. */
export function sampleOf<T>({ subject, extent, seed }: Trial, items: readonly T[]): readonly T[] {
  if (extent === "full" || subject.name !== "portable") return items;
  return items.filter((_, at) => at % ONE_IN === seed % ONE_IN);
}
