/** Searches as tests, in the extent of the run: a file for each part, since all of them take minutes. */

import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { known, nameOf, planFor, type Row, search } from "./plan.ts";
import { story } from "./story.ts";

/** A search in the usual network of one error, or of a lock file that is removed. */
export function isOfErrors({ cast: { ipam, pools, before }, trouble }: Row): boolean {
  const isUsual = [ipam, pools, before].every((own) => own === undefined);
  return isUsual && (trouble === "errors" || trouble === "removals");
}

/** A search of what is stopped, or goes its way. */
export function isOfStops({ trouble }: Row): boolean {
  return trouble === "nothing" || trouble === "stops";
}

/** Declares a test for each search of a part: no rule of the store is broken at the end of any schedule. */
export function testSearches(isWanted: (row: Row) => boolean): void {
  const rows = planFor(extent).filter(isWanted);
  const seen = new Set<unknown>();
  for (const row of rows) {
    test(nameOf(row), async (t) => {
      const { counts, broken, known: exception } = search(row);
      if (exception !== undefined) seen.add(exception);

      const found =
        broken === undefined ? "" : `${broken.broken.join("\n")}\n${story(broken.steps)}`;
      t.equal(found, "", "every schedule leaves every rule");
      t.comment(`${counts.schedules} schedules in ${counts.states} states`);
    });
  }

  test("what is known to break a rule still does", { skip: extent === "short" }, async (t) => {
    const expected = known.filter((one) => rows.some((row) => one.search.test(nameOf(row))));
    t.same(
      expected.filter((one) => !seen.has(one)).map(({ why }) => why),
      [],
    );
  });
}
