/**
 * Measures both executables against the Go plugin, counts the instructions of the native one, and writes
 * docs/data/benchmark.json and docs/evidence/benchmark.md.
 *
 * Usage: npm run bench [-- living-pods]
 *   living-pods  measure only calls beside living pods, and leave the other results as they are
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { goPlugin, skipWithoutGoPlugin } from "../../test/harness/go-plugin.ts";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import { writePictures } from "../pages/pictures.ts";
import { writeResults } from "../pages/runs.ts";
import { deadPods } from "./dead-pods.ts";
import { instructionsOf } from "./instructions.ts";
import { livingPods } from "./living-pods.ts";
import { Measurement } from "./measure.ts";
import { type Circumstances, formatPage, type LivingPods, type Results } from "./page.ts";
import { buildRunner } from "./runner.ts";
import { contender } from "./store.ts";

if (goPlugin === undefined) throw new Error(`${skipWithoutGoPlugin}`);
const native = join(root, "dist", "native", "host-local");
const executables = { go: goPlugin.path, native, portable: join(root, "dist", "host-local") };
const [load = 0] = loadavg();
if (load > 1) console.warn(`The load is ${load.toFixed(1)}: other work makes the numbers noisy.`);
const data = join(root, "docs", "data", "benchmark.json");
const directory = mkdtempSync(join(tmpdir(), "host-local-bench-"));
try {
  const results = runBenchmark(process.argv.slice(2));
  const page = formatPage(results);
  console.log(`\n${page.slice(page.indexOf("## Results"), page.indexOf("## Method"))}`);
  writeResults(data, results);
  writeFileSync(join(root, "docs", "evidence", "benchmark.md"), page);
  writePictures();
} finally {
  rmSync(directory, { recursive: true });
}

function runBenchmark([part, ...rest]: readonly string[]): Results {
  if (part === undefined) return { ...measureAll(), livingPods: besideLivingPods() };
  if (part !== "living-pods" || rest.length > 0) throw new Error("usage: run.ts [living-pods]");
  const measured = besideLivingPods();
  if (measured === undefined) throw new Error("Making network namespaces takes root.");
  return { ...JSON.parse(readFileSync(data, "utf8")), livingPods: measured };
}

function measureAll(): Results {
  const contend = (name: keyof typeof executables) => contender(name, executables[name], directory);
  const measurement = new Measurement(buildRunner(directory));
  measurement.sizes([contend("go"), contend("native"), contend("portable")]);
  // Not with Node.js: hundreds of its processes measure the machine's memory and scheduler.
  measurement.bursts([contend("go"), contend("native")]);
  return {
    ...circumstances(),
    rows: [...measurement.rows, ...deadPods(buildRunner(directory), executables.native, directory)],
    instructions: instructionsOf(directory, contend("native")),
    sizes: Object.fromEntries(
      Object.entries(executables).map(([name, path]) => [name, statSync(path).size / 1e6]),
    ),
  };
}

function besideLivingPods(): LivingPods | undefined {
  const rows = livingPods(executables.go, executables.native, directory);
  return rows && { ...circumstances(), rows };
}

function circumstances(): Circumstances {
  const date = new Date().toISOString().slice(0, 10);
  const fileSystem = command(["df", "--output=fstype", directory]).trim().split("\n").at(-1);
  return {
    machine: `${date}, ${cpus().length} cores, Linux ${release()}, ${process.arch}, data on ${fileSystem}`,
    goVersion: goVersion(executables.go),
  };
}

/** The version of a Go plugin: Debian's builds do not know it; the changelog of their package does. */
function goVersion(executable: string): string {
  const documents = join(executable, "../../../share/doc/containernetworking-plugins");
  const changelog = join(documents, "changelog.Debian.gz");
  if (!existsSync(changelog)) return "unknown";
  const text = gunzipSync(readFileSync(changelog)).toString();
  return /\(([^+)-]*)/.exec(text)?.[1] ?? "unknown";
}
