/** A part of many alike cases for a short run with the portable executable, whose calls take long to start. */

import { extent } from "../extent.ts";
import { seed } from "../faults/seed.ts";
import { sample } from "../sample.ts";
import { executable, inRepository } from "./executable.ts";

const isSlow = executable === inRepository("dist/host-local");

/** One case of four in a short run with the portable executable, else all. */
export function shortSample<T>(cases: readonly T[]): readonly T[] {
  return extent === "short" && isSlow ? sample(cases, 4, seed) : cases;
}
