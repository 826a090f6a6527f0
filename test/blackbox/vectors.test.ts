// test: each executable, each architecture in full
/** Replays everything recorded of the Go plugin, with the decided differences applied. */

import { test } from "tap";
import { executable } from "../harness/executable.ts";
import { answersAsExpected } from "./answers.ts";
import { differences } from "./differences.ts";
import { shortSample } from "./short-sample.ts";
import { readVectors } from "./vectors.ts";

const vectors = readVectors();

const changes = differences.flatMap(({ changed }) => changed);

for (const vector of shortSample(vectors)) {
  test(vector.id, (t) => {
    answersAsExpected(t, executable, vector, changes);
    t.end();
  });
}

test("no recording got lost", (t) => {
  const changed = new Set(changes.map(({ vector }) => vector)).size;
  t.comment(`${vectors.length} vectors hold, ${changed} of them with a decided difference`);
  t.equal(new Set(vectors.map(({ id }) => id)).size, 285);
  t.end();
});
