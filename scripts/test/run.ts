/**
 * Builds both executables and runs the tests: those that work on an executable from outside with each of the two (in the
 * short extent many only with the native one), all others once. Prints one line for each file.
 *
 * Usage: npm test [-- OPTION... FILE...], npm run test:all
 *
 *   --full             every test in full extent; short by default, see test/harness/extent.ts
 *   --go-plugin PATH   the tests that use the Go plugin, with this one; `none` as if there were none
 *   FILE               only these test files
 */

import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { sideBySide } from "../../test/harness/side-by-side.ts";
import { root } from "../build/bundle.ts";
import { buildNative, MissingTool } from "../build/native.ts";
import { type TestFile, testFiles } from "./files.ts";
import { type Counts, type FileResult, runTestFile } from "./process.ts";

/** An executable under test. */
interface Executable {
  readonly name: "portable" | "native";
  readonly path: string;
}

/** A test file, and with which executable. */
interface Task {
  readonly file: TestFile;
  readonly executable?: Executable;
}

/** Some tests wait, for a lock or a process: meanwhile others run. */
const AT_ONCE = 2 * availableParallelism();

const { values: options, positionals } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    "go-plugin": { type: "string" },
  },
  allowPositionals: true,
});
const goPlugin = options["go-plugin"];
const environment = {
  HOST_LOCAL_EXTENT: options.full ? "full" : "short",
  ...(goPlugin === undefined ? {} : { HOST_LOCAL_GO_BIN: goPlugin === "none" ? "" : goPlugin }),
};

const began = performance.now();
const sum = { passed: 0, failed: 0, skipped: 0 };
const skipReasons = new Map<string, number>();
const executables = [buildPortable(), await buildNativeHere()].filter((one) => one !== undefined);
const groups = chosenFiles().map((file) => tasksOf(file, executables));
const results = await sideBySide(groups, AT_ONCE, runInTurn);
conclude(results.flat());

function buildPortable(): Executable | undefined {
  const { status } = spawnSync(process.execPath, [join(root, "scripts/build/portable.ts")], {
    stdio: "inherit",
  });
  if (status === 0) return { name: "portable", path: join(root, "dist", "host-local") };
  sum.failed++;
  console.log("FAIL  The portable executable could not be built; the native one is tested alone.");
  return undefined;
}

async function buildNativeHere(): Promise<Executable | undefined> {
  try {
    return { name: "native", path: await buildNative() };
  } catch (error) {
    if (error instanceof MissingTool) {
      sum.skipped++;
      console.log(`The native executable is not tested, since it cannot be built here. ${error}`);
    } else {
      sum.failed++;
      console.log(`FAIL  The native executable could not be built: ${error}`);
    }
    return undefined;
  }
}

function chosenFiles(): readonly TestFile[] {
  const wanted = new Set(positionals.map((path) => relative(root, resolve(path))));
  const files = testFiles()
    .filter(({ path, isLong }) => (wanted.size === 0 ? options.full || !isLong : wanted.has(path)))
    .filter(({ usesGoPlugin }) => goPlugin === undefined || usesGoPlugin);
  if (files.length === 0) throw new Error("There is no test file of that name.");
  return files;
}

function tasksOf(file: TestFile, executables: readonly Executable[]): readonly Task[] {
  if (!file.isNative && !file.usesExecutable) return [{ file }];
  return executables
    .filter(({ name }) => name === "native" || !file.isNative)
    .filter((executable) => options.full || !file.isOnceEnough || executable === executables.at(-1))
    .map((executable) => ({ file, executable }));
}

/** A container is alive if any process of the machine has its address, so a test must not meet itself. */
async function runInTurn(tasks: readonly Task[]): Promise<readonly FileResult[]> {
  const results: FileResult[] = [];
  for (const task of tasks) results.push(await runTask(task));
  return results;
}

async function runTask({ file, executable }: Task): Promise<FileResult> {
  const result = await runTestFile(file.path, {
    ...environment,
    ...(executable === undefined ? {} : { HOST_LOCAL_BIN: executable.path }),
  });
  const how = result.failed > 0 ? "FAIL" : "ok  ";
  const seconds = `${result.seconds.toFixed(1)} s`.padStart(7);
  const name = executable === undefined ? file.path : `${file.path} (${executable.name})`;
  console.log(`${how} ${seconds}  ${name}: ${inWords(result)}`);
  if (result.report !== "") console.log(result.report.replaceAll(/^/gm, "      "));
  return result;
}

function conclude(results: readonly FileResult[]): void {
  for (const result of results) {
    sum.passed += result.passed;
    sum.failed += result.failed;
    sum.skipped += result.skipped;
    for (const reason of result.skipReasons) {
      skipReasons.set(reason, (skipReasons.get(reason) ?? 0) + 1);
    }
  }
  for (const [reason, count] of skipReasons) console.log(`${count} skipped: ${reason}`);
  console.log(`${results.length} files in ${Math.round((performance.now() - began) / 1000)} s`);
  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0;
}

function inWords({ passed, failed, skipped }: Counts): string {
  return [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(", ");
}
