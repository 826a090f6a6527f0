/** The page of the matrix. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { type ClientRun, compatibilityPage, type Matrix, withTable } from "./matrix.ts";

test("the page and README's table are what npm run test:clients -- --write makes of its results", (t) => {
  const matrix: Matrix = JSON.parse(readFileSync("docs/data/compatibility.json", "utf8"));
  t.equal(readFileSync("docs/evidence/compatibility.md", "utf8"), compatibilityPage(matrix));
  const readme = readFileSync("README.md", "utf8");
  t.equal(readme, withTable(readme, matrix));
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

  const marks = "# A\n<!-- Written by npm run test:clients -- --write -->\nold\n<!-- End -->\n# B";
  const readme = withTable(marks, {
    date: "2025-01-31",
    runs: [...runs, { ...run, client: "ctr 2, --cni", version: "2.0", verbs: ["GC"] }],
  });
  t.ok(readme.startsWith("# A\n") && readme.endsWith("\n# B"));
  t.match(readme, "| ctr | 1.2.3, 2.0 | ADD DEL GC STATUS | failed |");
  t.match(readme, "| podman |  |  | not run: No podman. |");
  t.notMatch(readme, "old");
  t.end();
});
