/** Imports of src/ go one way, and test/ has the folders of src/. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { arrows, isAllowed, rowOf } from "../../../scripts/lint/arrows.ts";
import { importProblems, mirrorProblems } from "../../../scripts/lint/imports.ts";
import type { SourceFile } from "../../../scripts/lint/source.ts";

/** A file, and what it imports. */
function file(path: string, ...imports: readonly string[]): SourceFile {
  return { path, text: "", imports };
}

/** A file of src/, one that it must not import, and the arrow that is not there: of folders, of files, and of test/. */
const refused: readonly (readonly [from: string, to: string, arrow: string])[] = [
  ["src/ipam/planted.ts", "src/store/lock.ts", "ipam to store"],
  ["src/ipam/planted.ts", "src/system/system.ts", "ipam to system/system.ts"],
  ["src/system/planted.ts", "src/system/node/pause.ts", "system to system/node"],
  ["src/main.ts", "src/operate.ts", "main.ts to operate.ts"],
  ["src/verbs/planted.ts", "test/harness/needs.ts", "verbs to test/harness/needs.ts"],
];

for (const [from, to, arrow] of refused) {
  test(`${from} must not import ${to}`, async (t) => {
    t.same(importProblems([file(from, to)]), [
      `${from}: scripts/lint/arrows.ts has no arrow from ${arrow}`,
    ]);
  });
}

test("imports along the arrows and within a folder are allowed", async (t) => {
  const files = [
    file("src/verbs/planted.ts", "src/verbs/add.ts", "src/store/lock.ts", "src/ipam/range.ts"),
    file("src/operator/gc/planted.ts", "src/operator/node.ts", "src/operator/judgements/lives.ts"),
    file("src/operator/alive/planted.ts", "src/operator/alive/cache/results-cache.ts"),
    file("test/store/planted.test.ts", "src/operate.ts", "scripts/demo.ts"),
  ];
  t.same(importProblems(files), []);
});

test("a new folder of src/ needs a row", async (t) => {
  t.same(importProblems([file("src/planted/a.ts")]), [
    "src/planted/a.ts: scripts/lint/arrows.ts has no row for it",
  ]);
});

test("no arrows go in a circle: a row names only rows above it", async (t) => {
  for (const [at, [from, to]] of arrows.entries()) {
    const above = arrows.slice(0, at).map(([row]) => row);
    t.same(
      to.filter((row) => row !== from && !above.includes(row)),
      [],
      from,
    );
  }
});

test("docs/architecture.md draws arrows of the table, and none of them backwards", async (t) => {
  const page = readFileSync("docs/architecture.md", "utf8");
  const rows = arrows.map(([row]) => row);
  /** The rows that a name of the page stands for: a file, or a folder with all below it. */
  const rowsOf = (name: string): readonly string[] => {
    const row = [name, `${name}.ts`, `operator/${name}`].find((one) => rowOf(one) === one) ?? name;
    return rows.filter((one) => one === row || one.startsWith(`${row}/`));
  };
  const leads = (from: string, to: string): boolean =>
    rowsOf(from).some((one) => rowsOf(to).some((other) => one !== other && isAllowed(one, other)));
  const chains = page.match(/(?:[\w.-]+, )*[\w.-]+(?:\s+→\s+(?:[\w.-]+, )*[\w.-]+)+/g) ?? [];
  const drawn = chains
    .map((chain) => chain.split(/\s*→\s*/).map((names) => names.split(", ")))
    .filter((steps) => steps.flat().every((name) => rowsOf(name).length > 0));
  t.ok(drawn.length >= 2, "the chains were found");
  for (const steps of drawn) {
    for (const [at, names] of steps.slice(1).entries()) {
      for (const to of names) {
        const from = steps[at] ?? [];
        t.ok(
          from.some((one) => leads(one, to)),
          `${from} → ${to}`,
        );
        for (const one of from) t.notOk(leads(to, one), `${to} → ${one}`);
      }
    }
  }
});

test("test/ has no folder beside those of src/", async (t) => {
  const files = [file("src/store/files/paths.ts"), file("test/harness/x/y.ts")];
  t.same(mirrorProblems([...files, file("test/store/files/paths.test.ts")]), []);
  t.same(mirrorProblems([...files, file("test/store/paths/paths.test.ts")]), [
    "test/store/paths: src/ has no such folder, which it would be the tests of",
  ]);
});
