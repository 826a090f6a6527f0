// test: each executable, one if short, each architecture in full
/** Replays all recordings of the Go plugin with the executable, with the decided differences applied. */

import { test } from "tap";
import { ExecutableMachine } from "../harness/executable-network.ts";
import { answersAsExpected } from "./answers.ts";
import { differences } from "./differences.ts";
import { shortSample } from "./short-sample.ts";
import { readVectors } from "./vectors.ts";

const changes = differences.flatMap(({ changed }) => changed);

for (const vector of shortSample(readVectors())) {
  test(vector.id, async (t) => {
    answersAsExpected(t, new ExecutableMachine(t), vector, changes);
  });
}
