/** A part of many similar cases for a short run with the portable executable, whose calls take long to start. */

import { isPortable } from "../harness/executable.ts";
import { extent } from "../harness/extent.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";

/** One case in twelve in a short run with the portable executable, else all. */
export function shortSample<T>(cases: readonly T[]): readonly T[] {
  return extent === "short" && isPortable ? sample(cases, 12, seed) : cases;
}
