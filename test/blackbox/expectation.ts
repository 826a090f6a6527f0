/** What a vector expects of this project: the recording, changed where a difference was decided. */

import { byPath, type TreeEntry } from "../harness/data-directory.ts";
import type { ChangedExpectation } from "./differences.ts";
import type { Vector } from "./vectors.ts";

/** The expected answer to one call. */
export interface ExpectedOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  /** The exact text, or a pattern for it. */
  readonly stderr: string | RegExp;
}

/** The expected answers and files of one vector. */
export interface Expectation {
  readonly outcomes: readonly ExpectedOutcome[];
  readonly tree: readonly TreeEntry[];
}

/**
 * Applies the changes that concern a vector to what was recorded.
 *
 * @param vector the recording
 * @param changes changed expectations, also of other vectors
 */
export function expectationOf(vector: Vector, changes: readonly ChangedExpectation[]): Expectation {
  const recorded: Expectation = {
    outcomes: vector.steps.map(({ expect }) => expect),
    tree: vector.tree.map(withOwnMode).sort(byPath),
  };
  return changes.filter((change) => change.vector === vector.id).reduce(changeOne, recorded);
}

/**
 * Turns an expected standard error text into an exact one.
 *
 * @param expected the exact text, or a pattern
 * @param actual the text found
 * @returns the text found where the pattern holds, else the expectation as text
 */
export function expectedStderr(expected: string | RegExp, actual: string): string {
  if (typeof expected === "string") {
    return expected;
  }
  return expected.test(actual) ? actual : `text like ${expected}`;
}

/** The lock file has the mode of every file here: see "File modes do not depend on the caller's umask". */
function withOwnMode(entry: TreeEntry): TreeEntry {
  return entry.path.endsWith("/lock") ? { ...entry, mode: "600" } : entry;
}

function changeOne(expected: Expectation, change: ChangedExpectation): Expectation {
  const { step = 1, filesLeft = [], filesNotLeft = [] } = change;
  const replaced = new Set([...filesNotLeft, ...filesLeft.map(({ path }) => path)]);
  return {
    outcomes: expected.outcomes.map((outcome, index) =>
      index === step - 1
        ? {
            exitCode: change.exitCode ?? outcome.exitCode,
            stdout: change.stdout ?? outcome.stdout,
            stderr: change.stderr ?? outcome.stderr,
          }
        : outcome,
    ),
    tree: [...expected.tree.filter(({ path }) => !replaced.has(path)), ...filesLeft].sort(byPath),
  };
}
