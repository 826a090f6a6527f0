/** The page of the matrix. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { compatibilityPage, type Matrix } from "./matrix.ts";

test("the page is what npm run test:clients -- --write makes of its results", async (t) => {
  const matrix: Matrix = JSON.parse(readFileSync("docs/data/compatibility.json", "utf8"));
  t.equal(readFileSync("docs/evidence/compatibility.md", "utf8"), compatibilityPage(matrix));
  t.same(
    matrix.runs.filter(({ result }) => result === "failed"),
    [],
    "no run failed",
  );
});
