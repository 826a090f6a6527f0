// test: own process, slow
/** Every order of calls, also where one is stopped. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { bugs } from "./bugs.ts";
import { known, nameOf, planFor } from "./plan.ts";
import { isOfStops, testSearches } from "./search-tests.ts";

const page = readFileSync(new URL("../../docs/evidence/interleavings.md", import.meta.url), "utf8");

test("docs/evidence/interleavings.md has every defect", async (t) => {
  const missing = bugs.filter(({ name }) => !page.includes(`- ${name} (`));
  t.same(missing, [], "npm run node -- scripts/pages/interleavings.ts writes it");
});

test("each rule that is known to be broken is so in a search", async (t) => {
  const names = planFor("full").map(nameOf);
  for (const { search, why } of known)
    t.ok(
      names.some((name) => search.test(name)),
      why,
    );
});

testSearches(isOfStops);
