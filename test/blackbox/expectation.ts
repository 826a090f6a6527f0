/** The expectation of a vector for this project: the recording, changed if a difference was decided. */

import { byPath, type TreeEntry } from "../harness/data-directory.ts";
import type { ChangedExpectation } from "./differences.ts";
import type { Vector, VectorStep } from "./vectors.ts";

/** The expected answers and files of one vector. */
interface Expectation {
  readonly outcomes: readonly VectorStep["expect"][];
  readonly tree: readonly TreeEntry[];
}

/**
 * Applies the changes that concern a vector to the recording.
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

/** The lock file has the mode of every file here: see "File modes do not depend on the caller's umask". */
function withOwnMode(entry: TreeEntry): TreeEntry {
  return entry.path.endsWith("/lock") ? { ...entry, mode: "600" } : entry;
}

function changeOne(expected: Expectation, change: ChangedExpectation): Expectation {
  const { vector: _, step = 1, filesLeft = [], filesNotLeft = [], ...answer } = change;
  const replaced = new Set([...filesNotLeft, ...filesLeft.map(({ path }) => path)]);
  return {
    outcomes: expected.outcomes.map((outcome, index) =>
      index === step - 1 ? { ...outcome, ...answer } : outcome,
    ),
    tree: [...expected.tree.filter(({ path }) => !replaced.has(path)), ...filesLeft].sort(byPath),
  };
}
