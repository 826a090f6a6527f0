/**
 * Measures both executables against the Go plugin, and against an empty program in the same
 * single-executable Node.js. It prints ratios beside the targets and all medians, and writes them to
 * docs/benchmark.md, benchmark.json and benchmark.svg.
 *
 * Usage: `node scripts/bench.ts [--dir DIRECTORY] [--quick]`, through `npm run bench -- …`. The data
 * directories are made below DIRECTORY, by default the one for temporary files. With `--quick` it
 * looks only whether everything works, and writes to build/bench instead.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { drawChart } from "./bench-chart.ts";
import { measure, QUICK, THOROUGH } from "./bench-measure.ts";
import { findPrograms } from "./bench-programs.ts";
import { describeMachine, fileTable, memoryTable, targetTable, timeTable } from "./bench-report.ts";
import type { Results } from "./bench-results.ts";
import { buildRunner } from "./bench-runner.ts";
import { root } from "./bundle.ts";

const work = join(root, "build", "bench");
const documents = join(root, "docs");

/** Runs the benchmark with its data below a directory. */
async function runBenchmark(parent: string, isQuick: boolean): Promise<Results> {
  mkdirSync(work, { recursive: true });
  const programs = await findPrograms(work);
  const run = buildRunner(work);
  warnOfOtherWork();
  const directory = mkdtempSync(join(parent, "host-local-bench-"));
  try {
    const series = measure(programs, directory, run, isQuick ? QUICK : THOROUGH, (text) => {
      console.log(`after ${Math.round(process.uptime())} s: ${text}`);
    });
    return {
      date: new Date().toISOString().slice(0, 10),
      cores: cpus().length,
      kernel: release(),
      architecture: process.arch,
      fileSystem: fileSystemOf(directory),
      programs: programs.map(({ name, version, bytes }) => ({ name, version, bytes })),
      series,
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function warnOfOtherWork(): void {
  const [load = 0] = loadavg();
  if (load > 1) console.warn(`The load is ${load.toFixed(1)}: other work makes the numbers noisy.`);
}

/** The type of the file system, as `mount` calls it. */
function fileSystemOf(directory: string): string {
  const lines = execFileSync("df", ["--output=fstype", directory], { encoding: "utf8" });
  return lines.trim().split("\n").at(-1) ?? "unknown";
}

/** The part of docs/benchmark.md that a run writes. */
function formatReport(results: Results): string {
  return `Measured ${describeMachine(results)}.

### Targets

Ratios of medians.

${targetTable(results)}

### Time

Wall time in milliseconds: median (minimum–maximum).

${timeTable(results)}

### Memory

Peak of resident memory in MB: median (minimum–maximum).

${memoryTable(results)}

### Size

In MB.

${fileTable(results)}`;
}

/** Puts the report between the two marks of a document. */
function insertReport(path: string, report: string): void {
  const document = readFileSync(path, "utf8");
  const marked = /(<!-- npm run bench -->)[\s\S]*(<!-- end -->)/;
  if (!marked.test(document)) throw new Error(`${path} has no marks to put the report between.`);
  writeFileSync(
    path,
    document.replace(marked, (_, begin, end) => `${begin}\n\n${report}\n\n${end}`),
  );
}

/** Writes the raw numbers in the form that the linter wants. */
function writeResults(path: string, results: Results): void {
  const input = JSON.stringify(results);
  const biome = join(root, "node_modules", ".bin", "biome");
  const formatted = execFileSync(biome, ["format", "--stdin-file-path=benchmark.json"], {
    cwd: root,
    input,
  });
  writeFileSync(path, formatted);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      dir: { type: "string", default: tmpdir() },
      quick: { type: "boolean", default: false },
    },
  });
  const results = await runBenchmark(resolve(values.dir), values.quick);
  const report = formatReport(results);
  console.log(`\n${report}\n`);
  const output = values.quick ? work : documents;
  writeResults(join(output, "benchmark.json"), results);
  writeFileSync(join(output, "benchmark.svg"), drawChart(results));
  if (!values.quick) insertReport(join(output, "benchmark.md"), report);
  console.log(`Written to ${output}.`);
}
