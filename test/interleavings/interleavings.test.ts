// test: own process, slow
/** Every order of calls, also when one of them is stopped. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { inRepository } from "../harness/repository.ts";
import { bugs } from "./bugs.ts";
import { testSearches } from "./search-tests.ts";

const page = readFileSync(inRepository("docs/evidence/interleavings.md"), "utf8");

test("docs/evidence/interleavings.md has every defect", async (t) => {
  const missing = bugs.filter(({ name }) => !page.includes(`- ${name} (`));
  t.same(missing, [], "npm run node -- scripts/pages/interleavings.ts writes it");
});

testSearches(({ trouble }) => trouble === "nothing" || trouble === "stops");
