/**
 * Measures both executables against the Go plugin, against the floor of the system calls, and against an empty program in
 * the same single-executable Node.js. It writes docs/evidence/benchmark.md and docs/data/benchmark.json.
 *
 * Usage: npm run bench [-- [--dir DIRECTORY] [--quick]]; the options are in docs/evidence/benchmark.md.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../build/bundle.ts";
import { writeResults } from "../pages/results-file.ts";
import { canCount, countInstructions } from "./instructions.ts";
import { measure, plainCall, QUICK, type Repetitions, THOROUGH } from "./measure.ts";
import { formatPage } from "./page.ts";
import { findPrograms, goVersion, type Program, type ProgramName } from "./programs.ts";
import { type Results, VERBS, type Verb } from "./results.ts";
import { buildRunner } from "./runner.ts";
import { createStore } from "./store.ts";

const work = join(root, "build", "bench");

/** Runs the benchmark with its data below a directory. */
async function runBenchmark(parent: string, repetitions: Repetitions): Promise<Results> {
  mkdirSync(work, { recursive: true });
  const programs = await findPrograms(work);
  const executableOf = (name: ProgramName) =>
    programs.find((program) => program.name === name)?.executable ?? "";
  const run = buildRunner(work);
  warnOfOtherWork();
  const directory = mkdtempSync(join(parent, "host-local-bench-"));
  try {
    return {
      date: new Date().toISOString().slice(0, 10),
      cores: cpus().length,
      kernel: release(),
      architecture: process.arch,
      fileSystem: fileSystemOf(directory),
      goVersion: goVersion(executableOf("go")),
      bytes: Object.fromEntries(
        programs.map(({ name, executable }) => [name, statSync(executable).size]),
      ),
      measurements: measure(programs, directory, run, repetitions, (text) => {
        console.log(`after ${Math.round(process.uptime())} s: ${text}`);
      }),
      instructions: instructionsOf(programs, directory),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Of the native executable's calls. */
function instructionsOf(
  programs: readonly Program[],
  directory: string,
): Readonly<Partial<Record<Verb, number>>> {
  const native = programs.find(({ name }) => name === "native");
  if (native === undefined || !canCount) return {};
  const store = createStore(directory, "instructions", native.cniVersion);
  const count = (verb: Verb): number => {
    const { executable, environment, configuration } = plainCall({ program: native, store }, verb);
    return countInstructions(executable, environment, readFileSync(configuration), directory);
  };
  // The first calls make what later ones find.
  for (const verb of ["ADD", "DEL"] as const) count(verb);
  return Object.fromEntries(VERBS.map((verb) => [verb, count(verb)]));
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

const { values } = parseArgs({
  options: {
    dir: { type: "string", default: tmpdir() },
    quick: { type: "boolean", default: false },
  },
});
const results = await runBenchmark(resolve(values.dir), values.quick ? QUICK : THOROUGH);
const page = formatPage(results);
console.log(`\n${page.slice(page.indexOf("## Results"), page.indexOf("## Method"))}`);
const output = values.quick ? work : join(root, "docs");
for (const name of ["data", "evidence"]) mkdirSync(join(output, name), { recursive: true });
writeResults(join(output, "data", "benchmark.json"), results);
writeFileSync(join(output, "evidence", "benchmark.md"), page);
console.log(`Written to ${output}.`);
