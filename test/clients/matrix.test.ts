/** The page of the matrix. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { type ClientRun, compatibilityPage, type Matrix } from "./matrix.ts";

test("the page is what npm run test:clients -- --write makes of its results", (t) => {
  const matrix: Matrix = JSON.parse(readFileSync("docs/data/compatibility.json", "utf8"));
  t.equal(readFileSync("docs/evidence/compatibility.md", "utf8"), compatibilityPage(matrix));
  t.same(
    matrix.runs.filter(({ result }) => result === "failed"),
    [],
    "no run failed",
  );
  t.end();
});

test("a client has one row, with the verbs of both executables and each result", (t) => {
  const run: ClientRun = {
    client: "ctr 1",
    scenario: "a scenario",
    executable: "native",
    version: "1.2.3",
    verbs: ["DEL", "ADD"],
    result: "passed",
  };
  const runs: readonly ClientRun[] = [
    run,
    { ...run, executable: "portable", verbs: ["STATUS"], result: "failed" },
    { ...run, client: "podman", version: "", verbs: [], result: "skipped", reason: "No podman." },
  ];
  const page = compatibilityPage({ date: "2025-01-31", runs });
  t.match(page, "| ctr 1 | 1.2.3 | ADD DEL STATUS | failed | passed | a scenario |");
  t.match(page, "| podman |  |  | not run | not run: No podman. | a scenario |");
  t.end();
});
