/** The documentation agrees with the source, and its links are valid. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "tap";
import { formatPage } from "../scripts/bench/page.ts";
import { differencesPage } from "../scripts/pages/differences.ts";
import { interleavingsPage } from "../scripts/pages/interleavings.ts";
import { pictures } from "../scripts/pages/pictures.ts";
import { type Faults, pagesWith, sentenceOf } from "../scripts/test/reliability-table.ts";
import { nodesIn, podsIn } from "../src/cluster/nodes/node-mask.ts";
import { commands } from "../src/commands.ts";
import type { ScenarioRun } from "./kubernetes/page.ts";

const faults: Faults = JSON.parse(readFileSync("docs/data/faults.json", "utf8"));

/** What scripts write of their data. */
const written: Readonly<Record<string, string>> = {
  "docs/differences.md": differencesPage(),
  "docs/evidence/benchmark.md": formatPage(
    JSON.parse(readFileSync("docs/data/benchmark.json", "utf8")),
  ),
  "docs/evidence/interleavings.md": interleavingsPage(
    JSON.parse(readFileSync("docs/data/interleavings.json", "utf8")),
  ),
  ...pagesWith(faults),
  ...pictures(),
};

for (const [path, text] of Object.entries(written)) {
  test(`${path} is what a script writes of its data`, async (t) => {
    t.equal(readFileSync(path, "utf8"), text);
  });
}

test("README.md and reliability.md count the faults as docs/data/faults.json has them", async (t) => {
  for (const page of Object.values(pagesWith(faults))) t.match(page, sentenceOf(faults));
  const attempts = faults.faults.reduce((sum, { native }) => sum + native.attempts, 0);
  t.match(sentenceOf(faults), `${faults.faults.length} kinds of fault, ${attempts} injected`);
});

/** What README.md need not explain. */
const ofAnyProgram = ["completion", "man", "version"];

test("README.md is short, has every command, and its figures are those of the evidence", async (t) => {
  const readme = readFileSync("README.md", "utf8");
  t.ok(readme.split(/\s+/).length <= 800, "800 words");
  const table = readme.slice(readme.indexOf("| command | shows |"), readme.indexOf("## Build"));
  for (const { name } of commands.filter((one) => !ofAnyProgram.includes(one.name))) {
    t.match(table, `\`${name}\``);
  }
  const [head = [], ...rows] = tableOf("docs/evidence/benchmark.md");
  const measured = (title: string, program: string): string => {
    const row = rows.find(([first]) => first === title) ?? [];
    return rounded(Number(row[head.indexOf(program)]));
  };
  const go = head.find((program) => program.startsWith("Go ")) ?? "";
  for (const program of ["native", "portable", go]) {
    const size = `${measured("file, MB", program)} MB`;
    const times = ["ADD", "ADD at 250"].map((title) => `${measured(title, program)} ms`);
    const name = program === go ? go.replace("Go", "Go plugin") : program;
    t.match(readme, `| ${name} | ${size} | ${times.join(" | ")} |`);
    if (program !== go) t.match(readFileSync("docs/install.md", "utf8"), size);
  }
  const runs: readonly ScenarioRun[] = JSON.parse(
    readFileSync("docs/data/kubernetes.json", "utf8"),
  );
  for (const { version = "" } of runs) {
    const [, number] = /^Kubernetes v([\d.]+),/.exec(version) ?? [];
    if (number !== undefined) t.match(readme, number);
  }
});

/** The cells of the lines of a page that are a table's. */
function tableOf(page: string): readonly (readonly string[])[] {
  const lines = readFileSync(page, "utf8").match(/^\|.*\|$/gm) ?? [];
  return lines.map((line) => line.slice(2, -2).split(" | "));
}

/** A number as a table for readers has it: with one decimal, and without from ten on. */
function rounded(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0);
}

test("docs/README.md leads to every page", async (t) => {
  const index = readFileSync("docs/README.md", "utf8");
  const names = readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .sort();
  t.same(
    names.filter((name) => !index.includes(`(${name})`)),
    [],
  );
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): readonly string[] {
  const headings = readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

const pages = [
  ...[
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "conf-examples/README.md",
  ],
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => join("docs", name)),
].filter((name) => name.endsWith(".md"));

for (const page of pages) {
  test(`the links in ${page} lead to files and headings that exist`, async (t) => {
    const links = readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g);
    const pictured = readFileSync(page, "utf8").matchAll(/\bsrc(?:set)?="([^"]*)"/g);
    for (const [, file = "", anchor = ""] of [...links, ...pictured]) {
      const target = file === "" ? page : join(dirname(page), file);
      t.ok(existsSync(target), target);
      if (anchor !== "") t.ok(anchorsOf(target).includes(anchor), `${target}#${anchor}`);
    }
  });
}

test("what commands say names pages by their titles, since no node has the files", async (t) => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join("src", path), "utf8"));
  // Comments may name files.
  const said = sources.map((text) => text.replaceAll(/^ *(?:\/\*\*|\*|\/\/).*$/gm, "")).join("\n");
  t.notMatch(said, /docs\/[\w-]+\.md/);
  const titles = pages.map((page) => /^# (.*)$/m.exec(readFileSync(page, "utf8"))?.[1]);
  const named = [...said.matchAll(/the page '([^']+)' of the documentation/g)];
  t.ok(named.length > 1);
  for (const [, title = ""] of named) t.ok(titles.includes(title), title);
});

test("docs/cluster-cidr.md counts as host-local plan does", async (t) => {
  const rows = tableOf("docs/cluster-cidr.md").filter(([mask]) => mask?.startsWith("/"));
  t.ok(rows.length > 0);
  for (const [mask = "", ...counts] of rows) {
    const nodeMask = Number(mask.slice(1));
    const planned = [podsIn(4, nodeMask), nodesIn(16, nodeMask), nodesIn(14, nodeMask)];
    t.same(counts, planned.map(String), mask);
  }
});

test("the manifest and docs/kubernetes-install.md have the same need of memory, below the limit", async (t) => {
  const read = (path: string): string => readFileSync(path, "utf8");
  const manifest = read("deploy/base/daemonset.yaml");
  const [, need = "", reservations = ""] =
    /gc needs (\d+) MB for (\d+ \d+) reservations/.exec(manifest) ?? [];
  const [, limit = ""] = /memory: (\d\d\d+)Mi/.exec(manifest) ?? [];
  t.ok(Number(need) > 0 && Number(need) < Number(limit), `${need} MB of ${limit} MiB`);
  const page = read("docs/kubernetes-install.md");
  t.match(page, `a memory limit of ${limit} MiB`);
  t.match(page, `${need} MB at its peak for ${reservations} in one network`);
});
