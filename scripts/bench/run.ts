/**
 * Measures both executables against the Go plugin, counts the instructions of the native one, and writes
 * docs/evidence/benchmark.md.
 *
 * Usage: npm run bench
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { goPlugin, skipWithoutGoPlugin } from "../../test/harness/go-plugin.ts";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import { writePictures } from "../pages/pictures.ts";
import { deadPods } from "./dead-pods.ts";
import { instructionsOf } from "./instructions.ts";
import { Measurement } from "./measure.ts";
import { formatPage, type Results } from "./page.ts";
import { buildRunner } from "./runner.ts";
import { contender } from "./store.ts";

if (goPlugin === undefined) throw new Error(`${skipWithoutGoPlugin}`);
const native = join(root, "dist", "native", "host-local");
const executables = { go: goPlugin.path, native, portable: join(root, "dist", "host-local") };
const [load = 0] = loadavg();
if (load > 1) console.warn(`The load is ${load.toFixed(1)}: other work makes the numbers noisy.`);
const directory = mkdtempSync(join(tmpdir(), "host-local-bench-"));
try {
  const page = formatPage(runBenchmark());
  console.log(`\n${page.slice(page.indexOf("## Results"), page.indexOf("## Method"))}`);
  writeFileSync(join(root, "docs", "evidence", "benchmark.md"), page);
  writePictures();
} finally {
  rmSync(directory, { recursive: true });
}

function runBenchmark(): Results {
  const contend = (name: keyof typeof executables) => contender(name, executables[name], directory);
  const measurement = new Measurement(buildRunner(directory));
  measurement.sizes([contend("go"), contend("native"), contend("portable")]);
  // Not with Node.js: hundreds of its processes measure the machine's memory and scheduler.
  measurement.bursts([contend("go"), contend("native")]);
  const date = new Date().toISOString().slice(0, 10);
  const fileSystem = command(["df", "--output=fstype", directory]).trim().split("\n").at(-1);
  return {
    machine: `${date}, ${cpus().length} cores, Linux ${release()}, ${process.arch}, data on ${fileSystem}`,
    goVersion: goVersion(executables.go),
    rows: [...measurement.rows, ...deadPods(buildRunner(directory), executables.native, directory)],
    instructions: instructionsOf(directory, contend("native")),
    sizes: Object.fromEntries(
      Object.entries(executables).map(([name, path]) => [name, statSync(path).size / 1e6]),
    ),
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
