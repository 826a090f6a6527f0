// test: own process
/** The search finds defects: each of these, which is one change in the source, with the shortest schedule as a story. */

import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";
import { bugs, shortestWith } from "./bugs.ts";
import { sourceWith } from "./plugin-with.ts";
import { NO_TROUBLE, prepare } from "./scenes.ts";
import { story } from "./story.ts";

test("the place of each defect is in the source once", async (t) => {
  for (const bug of bugs) t.doesNotThrow(() => sourceWith(bug), bug.name);
});

for (const bug of sample(bugs, extent === "short" ? 4 : 1, seed)) {
  test(`it is found if ${bug.name}`, async (t) => {
    const { search, judge } = prepare(bug.cast, bug.trouble ?? NO_TROUBLE);
    t.equal(search.run(judge.judge), undefined, "the source as it is breaks no rule");

    const found = await shortestWith(bug);
    t.ok(found, "with the change a schedule breaks one");
    t.comment(found && `${bug.cast.name}: ${story(found)}`);
  });
}
