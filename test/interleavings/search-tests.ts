/** Searches as tests, in the extent of the run. Two files declare them, since all take minutes. */

import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";
import { known, nameOf, planFor, type Row, search } from "./plan.ts";
import { story } from "./story.ts";

/** Declares a test for each search of a part: no rule of the store is broken at the end of any schedule. */
export function testSearches(isWanted: (row: Row) => boolean): void {
  const rows = sample(planFor(extent).filter(isWanted), extent === "short" ? 4 : 1, seed);
  const seen = new Set<unknown>();
  for (const row of rows) {
    test(nameOf(row), async (t) => {
      const { counts, broken, known: exception } = search(row);
      if (exception !== undefined) seen.add(exception);

      t.equal(broken && story(broken), undefined, "every schedule leaves every rule");
      t.comment(`${counts.schedules} schedules in ${counts.states} states`);
    });
  }

  test("what is known to break a rule still does", { skip: extent === "short" }, async (t) => {
    for (const { search: names, why } of known) {
      t.ok(
        planFor("exhaustive").some((row) => names.test(nameOf(row))),
        `of a search: ${why}`,
      );
    }
    const expected = known.filter((exception) =>
      rows.some((row) => exception.search.test(nameOf(row))),
    );
    t.same(
      expected.filter((exception) => !seen.has(exception)).map(({ why }) => why),
      [],
    );
  });
}
