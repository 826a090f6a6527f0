/** The page about the scenarios. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { kubernetesPage, type Runs, type ScenarioRun } from "./page.ts";

test("the page is what npm run test:kubernetes -- --write makes of its results", (t) => {
  const runs: Runs = JSON.parse(readFileSync("docs/data/kubernetes.json", "utf8"));
  t.equal(readFileSync("docs/evidence/kubernetes.md", "utf8"), kubernetesPage(runs));
  t.same(
    runs.runs.filter(({ result }) => result === "failed"),
    [],
    "no run failed",
  );
  t.end();
});

test("a scenario has a row with the result of each executable, and a section with what was seen", (t) => {
  const run: ScenarioRun = {
    title: "A /29 is full, then not",
    executable: "native",
    result: "passed",
    version: `Kubernetes v1.2.3, ${"containerd 1.6.20".repeat(3)}`,
    times: { start: 40, scenario: 20 },
    evidence: [
      { sentence: "This was seen:", seen: "a\n" },
      { sentence: "And that." },
      { sentence: "A long list:", seen: "b\n".repeat(7) },
    ],
  };
  const page = kubernetesPage({
    date: "2025-01-31",
    runs: [
      { title: run.title, executable: "portable", result: "failed", evidence: [] },
      run,
      { ...run, title: "Portable", executable: "portable", evidence: [{ sentence: "Seen." }] },
      {
        title: "Portable",
        executable: "native",
        result: "skipped",
        reason: "It has none.",
        evidence: [],
      },
      { ...run, title: "Native" },
    ],
  });
  t.match(page, `run on 2025-01-31 with ${run.version?.slice(0, 30)}`);
  const link = "[A /29 is full, then not](#a-29-is-full-then-not)";
  t.match(page, `\n| ${link} | failed | passed, 40 + 20 s |\n`);
  t.match(page, "| passed, 40 + 20 s | not run: It has none. |");
  t.match(page, "| not run | passed, 40 + 20 s |");
  t.match(
    page,
    "\n## A /29 is full, then not\n\nThis was seen:\n\n```\na\n```\n\nAnd that.\n\nA long list: *7 lines*\n",
    "what the native executable showed",
  );
  t.same(
    page.split("\n").filter((line) => line.length > 120),
    [],
    "no line is longer than 120 characters",
  );
  t.end();
});
