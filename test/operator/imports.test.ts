// test: own process
/** The imports within src/operator go one way, as docs/architecture.md draws it: lint refuses the others. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "tap";
import { inRepository } from "../harness/repository.ts";

/** A file of src/operator, and what it imports. */
type Arrow = readonly [from: string, to: string];

const refused: readonly Arrow[] = [
  ["configured/planted.ts", "held/release.ts"],
  ["configured/planted.ts", "alive/liveness.ts"],
  ["configured/planted.ts", "alive/cache/results-cache.ts"],
  ["configured/planted.ts", "node.ts"],
  ["configured/planted.ts", "check/finding.ts"],
  ["held/planted.ts", "alive/conclusion.ts"],
  ["held/planted.ts", "next-command.ts"],
  ["held/planted.ts", "gc/decision.ts"],
  ["alive/planted.ts", "node.ts"],
  ["alive/planted.ts", "gc/decision.ts"],
  ["alive/cache/planted.ts", "alive/liveness.ts"],
  ["alive/cache/planted.ts", "node.ts"],
  ["planted.ts", "metrics/measurements.ts"],
  ["gc/planted.ts", "reservations/release.ts"],
];

const allowed: readonly Arrow[] = [
  ["held/planted.ts", "configured/networks.ts"],
  ["alive/planted.ts", "alive/cache/results-cache.ts"],
  ["alive/planted.ts", "held/network-directory.ts"],
  ["alive/planted.ts", "configured/networks.ts"],
  ["alive/cache/planted.ts", "held/network-directory.ts"],
  ["alive/cache/planted.ts", "configured/networks.ts"],
  ["planted.ts", "alive/liveness.ts"],
  ["planted.ts", "held/release.ts"],
  ["planted.ts", "configured/networks.ts"],
  ["planted.ts", "node.ts"],
  ["gc/planted.ts", "node.ts"],
  ["metrics/planted.ts", "check/check.ts"],
];

/** How a file of src/operator names another one. */
function specifierOf([from, to]: Arrow): string {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

/** Those that lint refuses of these arrows, each in a file of its own. */
function refusedAmong(directory: string, arrows: readonly Arrow[]): readonly Arrow[] {
  const pathOf = ([from]: Arrow, at: number) =>
    join("src/operator", from.replace("planted", `planted-${at}`));
  for (const [at, arrow] of arrows.entries()) {
    const path = join(directory, pathOf(arrow, at));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `import "${specifierOf(arrow)}";\n`);
  }
  const words = ["lint", "--only=style/noRestrictedImports", "--reporter=json"];
  const biome = inRepository("node_modules/.bin/biome");
  const { stdout } = spawnSync(biome, [...words, "--max-diagnostics=none"], { cwd: directory });
  const { diagnostics } = JSON.parse(String(stdout));
  const paths = diagnostics.map((one: { location: { path: string } }) => one.location.path);
  return arrows.filter((arrow, at) => paths.includes(pathOf(arrow, at)));
}

test("an import against the arrows is refused, and no other one", async (t) => {
  const configuration = JSON.parse(readFileSync(inRepository("biome.json"), "utf8"));
  const directory = t.testdir({
    "biome.json": JSON.stringify({ ...configuration, vcs: undefined }),
  });
  const found = refusedAmong(directory, [...refused, ...allowed]);
  t.strictSame(found, refused);
});
