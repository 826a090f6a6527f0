/** Compares the answers of an executable with a recording of the Go plugin. */

import type { Test } from "tap";
import type { Machine } from "../harness/machine.ts";
import { printError, readError } from "../harness/printed-error.ts";
import { comparable } from "./comparison.ts";
import type { ChangedExpectation } from "./differences.ts";
import { expectationOf } from "./expectation.ts";
import { replay, type Vector } from "./vectors.ts";

/**
 * Replays a vector, and expects the recorded answers and files.
 *
 * @param t the test
 * @param machine where the plugin runs, with an empty data directory
 * @param vector the recording
 * @param changes the changed expectations, of this vector and others
 * @param options further options of the machine, such as the plugin to start
 */
export function answersAsExpected(
  t: Test,
  machine: Machine,
  vector: Vector,
  changes: readonly ChangedExpectation[],
  options: object = {},
): void {
  const expected = expectationOf(vector, changes);

  const { outcomes, tree } = replay(machine, vector, options);

  for (const [index, outcome] of outcomes.entries()) {
    const reference = expected.outcomes[index] ?? { exitCode: 0, stdout: "", stderr: "" };
    t.strictSame(
      comparable(outcome, reference),
      comparable(reference, reference),
      `call ${index + 1} answers as expected`,
    );
    const error = readError(outcome.stdout);
    if (error !== undefined) {
      t.equal(outcome.stdout, printError(error), `call ${index + 1} prints its error as Go does`);
    }
  }
  t.strictSame(tree, expected.tree, "leaves the expected files");
}
