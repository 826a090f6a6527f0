/** The Go plugin itself must pass its own recordings: that proves that the harness is right. */

import { test } from "tap";
import { comparable } from "../blackbox/comparison.ts";
import { byPath, scratchDirectory } from "../blackbox/data-directory.ts";
import { readVectors, replay } from "../blackbox/vectors.ts";
import { goPlugin, skipWithoutGoPlugin } from "./go-plugin.ts";

const skip =
  skipWithoutGoPlugin ||
  (goPlugin?.current === true
    ? false
    : "The Go host-local on this machine is older than the recordings.");

test("the Go plugin answers every vector as recorded", { skip }, (t) => {
  for (const vector of readVectors()) {
    const { outcomes, tree } = replay(goPlugin?.path ?? "", vector, scratchDirectory(t));

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
});
