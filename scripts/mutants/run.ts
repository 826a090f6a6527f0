/**
 * Changes the source in one place after the other and runs the unit tests each time: what they do not notice they do not
 * hold. Stryker does it, in a folder of its own. What has not changed since the last run is not run again, so a run may be
 * interrupted and continued.
 *
 * Usage: npm run node -- scripts/mutants/run.ts [--every-test] [FILE...], by default all rooms but what
 * speaks to the kernel; a room takes from some minutes to an hour. With --every-test the tests after one that fails run, too,
 * and it prints how many fail for a changed line, and which tests are never the only one: what they promise is held elsewhere,
 * as far as it is known.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../build/bundle.ts";
import { testFiles } from "../test/files.ts";
import { summaryOf } from "./every-test.ts";

const ROOMS = [
  "ipam",
  "configuration",
  "dry-run",
  "verbs",
  "cni",
  "store",
  "static",
  "cli",
  "operator",
  "cluster",
];
const home = join(root, "scripts", "mutants");
const work = join(root, "build", "mutants");

/** Unit tests that are about the repository, or look at calls in every order, which takes minutes. */
const others = /^test\/(?:addresses\.|scripts\/|interleavings\/)/;
const tests = testFiles().filter(({ path, words }) => {
  const isInMemory = words.size === 0 || path.startsWith("test/behaviours/");
  return isInMemory && !others.test(path);
});

/** @param room of the source, for the names of the files that are kept in build/mutants */
function mutate(room: string, files: readonly string[], everyTest: boolean): void {
  const name = everyTest ? `${room}-every-test` : room;
  const report = join(work, `${name}.report.json`);
  const configuration = {
    mutate: files,
    testRunner: "inOneProcess",
    inOneProcess: { testFiles: tests.map(({ path }) => path) },
    concurrency: 1,
    warnings: { unknownOptions: false },
    coverageAnalysis: "perTest",
    plugins: [join(home, "runner.ts")],
    // Stryker rewrites a tsconfig.json by the API of an older TypeScript, and nothing here reads it.
    tsconfigFile: "none.json",
    ignorePatterns: ["/build", "/dist", "/.tap", "/scripts/mutants/node_modules"],
    tempDirName: join(work, "sandbox"),
    incremental: true,
    incrementalFile: join(work, `${name}.json`),
    // Modules that are loaded again and again are never forgotten.
    maxTestRunnerReuse: 200,
    disableBail: everyTest,
    reporters: ["clear-text", "json"],
    jsonReporter: { fileName: report },
    clearTextReporter: { logTests: false, reportTests: false, reportScoreTable: true },
    thresholds: { high: 95, low: 92, break: null },
    allowEmpty: false,
  };
  const path = join(work, `${name}.config.json`);
  writeFileSync(path, JSON.stringify(configuration));
  run(process.execPath, join(home, "node_modules", ".bin", "stryker"), "run", path);
  if (everyTest) console.info(summaryOf(JSON.parse(readFileSync(report, "utf8"))));
}

function run(command: string, ...words: readonly string[]): void {
  const { status, error } = spawnSync(command, words, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, HOST_LOCAL_EXTENT: "short", TAP_TIMEOUT: "0", HOST_LOCAL_BIN: "none" },
  });
  if (status !== 0) throw new Error(`${command} failed: ${error ?? `exit code ${status}`}`);
}

mkdirSync(work, { recursive: true });
run("npm", "ci", "--prefix", home);
const { values, positionals } = parseArgs({
  options: { "every-test": { type: "boolean", default: false } },
  allowPositionals: true,
});
const everyTest = values["every-test"];
if (positionals.length > 0) mutate("chosen", positionals, everyTest);
else for (const room of ROOMS) mutate(room, [`src/${room}/**/*.ts`], everyTest);
