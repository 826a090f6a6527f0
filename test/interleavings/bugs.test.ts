// test: own process
/**
 * The search finds defects: each one stands in place of one function, and the shortest schedule that shows it is printed as a
 * story.
 */

import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";
import { type Bug, bugs, shortestWith } from "./bugs.ts";
import { planFor, troubles } from "./plan.ts";
import { requirePlace } from "./plugin-with.ts";
import { NO_TROUBLE, prepare } from "./scenes.ts";
import { story } from "./story.ts";

test("the place of each defect is in the source", async (t) => {
  // A full run loads every defect below.
  for (const bug of extent === "short" ? bugs : []) await t.resolves(requirePlace(bug), bug.name);
  await t.rejects(requirePlace({ file: "store/lock.ts", place: "none", instead: "() => {}" }));
  await t.rejects(requirePlace({ file: "store/lock.ts", place: "Lock.none", instead: "() => {}" }));
});

/**
 * Whether the searches of a full run include the defect's search, or one with more troubles, so that they would find the
 * defect.
 */
function isPlanned({ cast, trouble = NO_TROUBLE }: Bug): boolean {
  return planFor("full").some((row) => {
    const faults: readonly string[] = troubles[row.trouble].faults;
    return row.cast.name === cast.name && trouble.faults.every((fault) => faults.includes(fault));
  });
}

for (const bug of sample(bugs, extent === "short" ? 12 : 1, seed)) {
  test(`it is found if ${bug.name}`, async (t) => {
    if (!isPlanned(bug)) {
      const { search, judge } = prepare(bug.cast, bug.trouble ?? NO_TROUBLE);
      t.equal(search.run(judge.judge), undefined, "the source as it is breaks no rule");
    }

    const found = await shortestWith(bug);
    t.ok(found, "with the change a schedule breaks one");
    t.comment(found && `${bug.cast.name}: ${story(found)}`);
  });
}
