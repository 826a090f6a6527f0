/** Proves that the list of differences is exact: nothing in it is idle, and it names real tests. */

import { existsSync } from "node:fs";
import { test } from "tap";
import { inRepository } from "../harness/repository.ts";
import { differences } from "./differences.ts";
import { expectationOf } from "./expectation.ts";
import { readVectors } from "./vectors.ts";

const vectors = readVectors();

for (const { title, changed, coveredBy } of differences) {
  test(title, async (t) => {
    t.ok(changed.length > 0 || coveredBy.length > 0, "is shown by a vector or by a test");
    for (const path of coveredBy) {
      t.ok(existsSync(inRepository(`test/${path}`)), `test/${path} exists`);
    }
    for (const { vector: id, step = 1, ...expectations } of changed) {
      const vector = vectors.find((candidate) => candidate.id === id);
      if (vector === undefined) throw new Error(`${id} is no vector`);
      for (const [name, value] of Object.entries(expectations)) {
        t.strictNotSame(
          expectationOf(vector, [{ vector: id, step, [name]: value }]),
          expectationOf(vector, []),
          `${id}: ${name} is another than recorded`,
        );
      }
    }
  });
}
