/** Scenarios as tests of the executable under test, in the extent of the run. */

import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { seed } from "../../harness/seed.ts";
import type { Scenario } from "./scenario.ts";
import { tested } from "./subject.ts";

/** Declares one test for each scenario, with one assertion for each attempt. */
export function testScenarios(...scenarios: readonly (readonly Scenario[])[]): void {
  for (const { fault, promise, obstacle, attempt } of scenarios.flat()) {
    const skip = obstacle?.() ?? false;
    test(`${fault}: ${promise}`, { skip }, async (t) => {
      const teardown = t.teardown.bind(t);
      const attempts = await attempt({ subject: tested, extent, seed, teardown });
      t.not(attempts.length, 0, "something was tried");
      for (const { what, violations } of attempts) t.same(violations, [], what);
    });
  }
}
