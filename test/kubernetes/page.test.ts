/** The page about the scenarios. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { kubernetesPage, type ScenarioRun, shown } from "./page.ts";

test("the page is what npm run test:kubernetes -- --write makes of its results", async (t) => {
  const runs: readonly ScenarioRun[] = JSON.parse(
    readFileSync("docs/data/kubernetes.json", "utf8"),
  );
  t.equal(readFileSync("docs/evidence/kubernetes.md", "utf8"), kubernetesPage(runs));
  t.same(
    runs.filter(({ result }) => result === "failed"),
    [],
    "no run failed",
  );
  t.same(
    [...new Set(runs.map(({ title }) => title))].sort(),
    Object.keys(shown).sort(),
    "it says of each scenario what it has shown",
  );
});
