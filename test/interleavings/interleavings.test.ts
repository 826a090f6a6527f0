// test: own process, slow
/** No rule of the store is broken at the end of any schedule. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { extent } from "../harness/extent.ts";
import { bugs } from "./bugs.ts";
import { known, nameOf, planFor, search } from "./plan.ts";
import { story } from "./story.ts";

const page = readFileSync(new URL("../../docs/evidence/interleavings.md", import.meta.url), "utf8");

test("docs/evidence/interleavings.md has every search and every defect", (t) => {
  const names = planFor("full").map(({ cast }) => `| ${cast.name} |`);
  const defects = bugs.map(({ name, cast }) => `| ${name} | ${cast.name} |`);
  const missing = [...names, ...defects].filter((text) => !page.includes(text));
  t.same(missing, [], "npx node scripts/pages/interleavings.ts writes it");
  t.end();
});

const seen = new Set<unknown>();
for (const row of planFor(extent)) {
  test(nameOf(row), (t) => {
    const { counts, broken, known: exception } = search(row);
    if (exception !== undefined) seen.add(exception);

    const found = broken === undefined ? "" : `${broken.broken.join("\n")}\n${story(broken.steps)}`;
    t.equal(found, "", "every schedule leaves every rule");
    t.comment(`${counts.schedules} schedules in ${counts.states} states`);
    t.end();
  });
}

test("what is known to break a rule still does", { skip: extent === "short" }, (t) => {
  const missing = known.filter((one) => !seen.has(one)).map(({ why }) => why);
  t.same(missing, []);
  t.end();
});
