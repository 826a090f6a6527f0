/** Proves that the list of differences is exact: nothing in it is idle, and it names real tests. */

import { existsSync } from "node:fs";
import { test } from "tap";
import { inRepository } from "../harness/repository.ts";
import { comparable } from "./comparison.ts";
import { differences } from "./differences.ts";
import { expectationOf } from "./expectation.ts";
import { readVectors } from "./vectors.ts";

const vectors = new Map(readVectors().map((vector) => [vector.id, vector]));

for (const difference of differences) {
  test(difference.title, async (t) => {
    t.ok(
      difference.changed.length > 0 || difference.coveredBy.length > 0,
      "is shown by a vector or by a test",
    );
    for (const path of difference.coveredBy) {
      t.ok(existsSync(inRepository(`test/${path}`)), `test/${path} exists`);
    }
    for (const change of difference.changed) {
      const vector = vectors.get(change.vector);
      const recorded = vector?.steps[(change.step ?? 1) - 1]?.expect;
      if (vector === undefined || recorded === undefined) {
        t.fail(`${change.vector} has no such call`);
        continue;
      }
      if (change.exitCode !== undefined) {
        t.not(change.exitCode, recorded.exitCode, `${change.vector}: the exit code is another`);
      }
      if (change.stdout !== undefined) {
        const changed = { ...recorded, stdout: change.stdout };
        t.notSame(
          comparable(changed, recorded).output,
          comparable(recorded, recorded).output,
          `${change.vector}: standard output is another`,
        );
      }
      if (change.stderr !== undefined) {
        const same =
          typeof change.stderr === "string"
            ? change.stderr === recorded.stderr
            : change.stderr.test(recorded.stderr);
        t.notOk(same, `${change.vector}: standard error is another`);
      }
      const files = vector.tree.map((entry) => JSON.stringify(entry));
      for (const entry of change.filesLeft ?? []) {
        t.notOk(
          files.includes(JSON.stringify(entry)),
          `${change.vector}: the Go plugin does not leave ${entry.path}`,
        );
      }
      for (const path of change.filesNotLeft ?? []) {
        t.ok(
          vector.tree.some((entry) => entry.path === path),
          `${change.vector}: the Go plugin leaves ${path}`,
        );
      }
    }
  });
}

test("a vector is changed at most once per call", async (t) => {
  const places = differences.flatMap(({ changed }) =>
    changed.map(({ vector, step = 1 }) => `${vector} call ${step}`),
  );
  t.equal(new Set(places).size, places.length);
});

test("applying the list changes the expectation of each vector in it", async (t) => {
  const changes = differences.flatMap(({ changed }) => changed);
  for (const { vector: id } of changes) {
    const vector = vectors.get(id);
    t.ok(vector, `${id} is a vector`);
    if (vector !== undefined) {
      t.strictNotSame(expectationOf(vector, changes), expectationOf(vector, []), id);
    }
  }
});
