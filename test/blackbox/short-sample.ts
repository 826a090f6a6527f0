/** A part of many alike cases for a short run with the portable executable, whose calls take long to start. */

import { executable } from "../harness/executable.ts";
import { extent } from "../harness/extent.ts";
import { inRepository } from "../harness/repository.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";

const isSlow = executable === inRepository("dist/host-local");

/** One case of twelve in a short run with the portable executable, else all. */
export function shortSample<T>(cases: readonly T[]): readonly T[] {
  return extent === "short" && isSlow ? sample(cases, 12, seed) : cases;
}
