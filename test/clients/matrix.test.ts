/** The page of the matrix. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { type ClientRun, compatibilityPage, latest, type Matrix } from "./matrix.ts";

test("the page is what npm run test:clients -- --write makes of its results", async (t) => {
  const matrix: Matrix = JSON.parse(readFileSync("docs/data/compatibility.json", "utf8"));
  t.equal(readFileSync("docs/evidence/compatibility.md", "utf8"), compatibilityPage(matrix));
  t.same(
    matrix.runs.filter(({ result }) => result === "failed"),
    [],
    "no run failed",
  );
});

test("what cannot be run today keeps its last run, with its date", async (t) => {
  const run = (more: Partial<ClientRun>): ClientRun => {
    const some = {
      client: "vlan",
      scenario: "a main plugin",
      executable: "native",
      verbs: [],
    } as const;
    return { ...some, version: "1.9.1", result: "passed", date: "2026-01-31", ...more };
  };
  const skipped = run({ result: "skipped", version: "", date: "2026-02-28" });
  const [portable, native] = [run({ executable: "portable" }), run({})];
  t.same(latest([skipped], [portable, native]), [native]);
  t.same(latest([skipped], [portable]), [skipped]);
  t.same(latest([run({ result: "failed", date: "2026-02-28" })], [native])[0]?.result, "failed");
});

test("clients of which the same was tested share a row; another date or result is named", async (t) => {
  const usual = { scenario: "allocation cycle", verbs: ["ADD"], result: "passed" } as const;
  const pair = (client: string, date = "2026-01-31"): readonly ClientRun[] =>
    (["native", "portable"] as const).map((executable) => ({
      ...{ ...usual, client, date, executable },
      version: "1.0",
    }));
  const [alone] = pair("d");
  const page = compatibilityPage({
    runs: [...pair("a"), ...pair("b"), ...pair("c", "2026-01-30"), ...(alone ? [alone] : [])],
  });
  t.match(page, "of each client on 2026-01-31");
  t.match(page, "| a: 1.0<br>b: 1.0<br>c: 1.0 (2026-01-30) | ADD | allocation cycle |\n");
  t.match(page, "| d: 1.0 | ADD | allocation cycle; portable: not run |\n");
  const failed = pair("e").map((run) => ({ ...run, result: "failed" as const }));
  t.match(
    compatibilityPage({ runs: failed }),
    "allocation cycle; portable: failed; native: failed |",
  );
});
