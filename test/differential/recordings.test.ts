// test: own process, Go plugin, slow
/** The Go plugin itself must pass its own recordings: that proves that the harness is right. */

import { type Test, test } from "tap";
import { comparable } from "../blackbox/comparison.ts";
import { readVectors, replay, type Vector } from "../blackbox/vectors.ts";
import { byPath } from "../harness/data-directory.ts";
import { ExecutableMachine } from "../harness/executable-network.ts";
import { extent } from "../harness/extent.ts";
import {
  goPlugin,
  goStatic,
  skipWithoutGoPlugin,
  skipWithoutGoStatic,
} from "../harness/go-plugin.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";

const skip =
  skipWithoutGoPlugin ||
  (goPlugin?.current === true
    ? false
    : "The Go host-local on this machine is older than the recordings.");

function answersAsRecorded(t: Test, program: string, vectors: readonly Vector[]): void {
  for (const vector of sample(vectors, extent === "short" ? 4 : 1, seed)) {
    const { outcomes, tree } = replay(new ExecutableMachine(t), vector, { program });

    const recorded = vector.steps.map(({ expect }) => expect);
    t.strictSame(
      {
        answers: outcomes.map((outcome, call) => comparable(outcome, recorded[call] ?? outcome)),
        tree,
      },
      {
        answers: recorded.map((expected) => comparable(expected, expected)),
        tree: [...vector.tree].sort(byPath),
      },
      vector.id,
    );
  }
  t.end();
}

test("the Go plugin answers every vector as recorded", { skip }, (t) => {
  answersAsRecorded(t, goPlugin?.path ?? "", readVectors());
});

test("the Go plugin static does, too", { skip: skipWithoutGoStatic }, (t) => {
  answersAsRecorded(t, goStatic, readVectors("static"));
});
