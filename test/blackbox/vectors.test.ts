/** Replays everything recorded of the Go plugin, with the decided differences applied. */

import { test } from "tap";
import { comparable } from "./comparison.ts";
import { scratchDirectory } from "./data-directory.ts";
import { differences } from "./differences.ts";
import { executable } from "./executable.ts";
import { expectationOf, expectedStderr } from "./expectation.ts";
import { printError, readError } from "./printed-error.ts";
import { shortSample } from "./short-sample.ts";
import { readVectors, replay } from "./vectors.ts";

const vectors = readVectors();

const changes = differences.flatMap(({ changed }) => changed);

for (const vector of shortSample(vectors)) {
  test(vector.id, (t) => {
    const expected = expectationOf(vector, changes);

    const { outcomes, tree } = replay(executable, vector, scratchDirectory(t));

    for (const [index, outcome] of outcomes.entries()) {
      const reference = expected.outcomes[index] ?? { exitCode: 0, stdout: "", stderr: "" };
      const promised = {
        ...reference,
        stderr: expectedStderr(reference.stderr, outcome.stderr),
      };
      t.strictSame(
        comparable(outcome, promised),
        comparable(promised, promised),
        `call ${index + 1} answers as expected`,
      );
      const error = readError(outcome.stdout);
      if (error !== undefined) {
        t.equal(outcome.stdout, printError(error), `call ${index + 1} prints its error as Go does`);
      }
    }
    t.strictSame(tree, expected.tree, "leaves the expected files");
    t.end();
  });
}

test("no recording got lost", (t) => {
  const changed = new Set(changes.map(({ vector }) => vector)).size;
  t.comment(`${vectors.length} vectors hold, ${changed} of them with a decided difference`);
  t.equal(new Set(vectors.map(({ id }) => id)).size, 285);
  t.end();
});
