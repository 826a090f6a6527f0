// test: own process
/** The search finds defects: each of these, which is one change in the source, with the shortest schedule as a story. */

import { test } from "tap";
import { bugs } from "./bugs.ts";
import { pluginWith } from "./plugin-with.ts";
import { prepare } from "./scenes.ts";
import { story } from "./story.ts";

for (const bug of bugs) {
  test(`it is found if ${bug.name}`, async (t) => {
    const run = await pluginWith(bug);
    const right = prepare(bug.cast, bug.trouble);
    const wrong = prepare(bug.cast, bug.trouble, run);

    const found = wrong.search.shortest(wrong.judge.judge);

    t.equal(right.search.run(right.judge.judge), undefined, "the source as it is breaks no rule");
    t.equal(
      found?.steps.length,
      bug.steps,
      "the shortest schedule that shows it has so many steps",
    );
    t.comment(`${bug.cast.name}: ${found?.broken[0]}\n${story(found?.steps ?? [])}`);
    t.end();
  });
}
