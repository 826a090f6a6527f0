/** The documentation says what the tests hold. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { differencesPage } from "../scripts/write-differences.ts";

test("docs/differences.md is what npm run differences writes", (t) => {
  t.equal(readFileSync("docs/differences.md", "utf8"), differencesPage());
  t.end();
});
