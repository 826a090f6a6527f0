/**
 * Builds both executables and runs the tests: what works on an executable from outside with each of the two, all else
 * once. How a file runs is in its first line, see files.ts. Prints one line for each file.
 *
 * Usage: npm test [-- OPTION... FILE...], npm run test:all
 *
 *   --full             every test in full extent; short by default, see test/harness/extent.ts
 *   --needing          the files alone that need something of the machine which not every one gives; see files.ts
 *   --executable NAME  what is one if short, with `native` or `portable` alone
 *   --go-plugin PATH   the tests that use the Go plugin, with this one; `none` as if there were none
 *   FILE               only these test files
 */

import { availableParallelism } from "node:os";
import { dirname, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { sideBySide } from "../../test/harness/side-by-side.ts";
import { root } from "../build/bundle.ts";
import { buildBoth, type Executable } from "./executables.ts";
import {
  needsNoAddresses,
  needsSomething,
  type TestFile,
  testFiles,
  usesExecutable,
} from "./files.ts";
import { runTestFiles } from "./process.ts";
import { Tally } from "./tally.ts";

/** Some tests wait, for a lock or a process: meanwhile others run. */
const AT_ONCE = 2 * availableParallelism();

/** What a test gets as its executable whose first line names none, so that it cannot use one unnoticed. */
const NO_EXECUTABLE = "the first line of this test names no executable";

const { values: options, positionals } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    needing: { type: "boolean", default: false },
    executable: { type: "string" },
    "go-plugin": { type: "string" },
  },
  allowPositionals: true,
});
const goPlugin = options["go-plugin"];
if (options.executable !== undefined && !isExecutable(options.executable)) {
  throw new Error(`expected native or portable, found ${options.executable}`);
}
const environment = {
  HOST_LOCAL_EXTENT: options.full ? "full" : "short",
  ...(goPlugin === undefined ? {} : { HOST_LOCAL_GO_BIN: goPlugin === "none" ? "" : goPlugin }),
};

const tally = new Tally();
const files = chosenFiles();
const executables = files.some(usesExecutable) ? buildBoth(tally) : Promise.resolve([]);
await sideBySide(groupsOf(files), AT_ONCE, runGroup);
tally.conclude();

function isExecutable(name: string): name is Executable["name"] {
  return name === "native" || name === "portable";
}

function chosenFiles(): readonly TestFile[] {
  const all = testFiles().filter(({ words }) => !words.has("release") && !words.has("cluster"));
  const wanted = positionals.map((path) => relative(root, resolve(path)));
  const unknown = wanted.find((path) => !all.some((file) => file.path === path));
  if (unknown !== undefined) throw new Error(`${unknown} is no test file of this command.`);
  const chosen = all
    .filter(({ path }) => wanted.length === 0 || wanted.includes(path))
    .filter(({ words }) => wanted.length > 0 || options.full || !words.has("full extent only"))
    .filter(({ words }) => goPlugin === undefined || words.has("Go plugin"))
    .filter((file) => !options.needing || needsSomething(file));
  if (chosen.length === 0) throw new Error("None of these test files is one of the options.");
  return chosen;
}

/**
 * What shares a process, in the order in which to begin: the unit tests, and in the short extent, where a start takes as
 * long as many a file, the tests of a directory that work on the same executables. Those that take long or need a process
 * of their own have one.
 */
function groupsOf(files: readonly TestFile[]): readonly (readonly TestFile[])[] {
  const groups = Map.groupBy(files, (file) => {
    if (file.words.has("own process") || file.words.has("slow")) return file.path;
    if (!usesExecutable(file)) return "unit tests";
    if (options.full) return file.path;
    const of = executablesFor(file, ["portable", "native"]);
    return [dirname(file.path), needsNoAddresses(file), ...of].join();
  });
  // While the executables are built, what needs none can run.
  const rank = ([file]: readonly TestFile[]): number => {
    if (file === undefined || !usesExecutable(file)) return 0;
    return file.words.has("slow") ? 1 : 2;
  };
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}

/** Runs files with one executable after the other: a container is alive if any process has its address, so a test must not meet itself. */
async function runGroup(group: readonly TestFile[]): Promise<void> {
  const paths = group.map(({ path }) => path);
  const [file] = group;
  if (file === undefined || !usesExecutable(file)) {
    const results = await runTestFiles(paths, { HOST_LOCAL_BIN: NO_EXECUTABLE, ...environment });
    for (const result of results) tally.add(result);
    return;
  }
  const built = new Map((await executables).map(({ name, path }) => [name, path]));
  for (const name of executablesFor(file, [...built.keys()])) {
    const path = built.get(name) ?? "";
    const isShort = name === "portable" && file.words.has("portable in short");
    const extent = isShort ? { HOST_LOCAL_EXTENT: "short" } : {};
    const results = await runTestFiles(paths, { HOST_LOCAL_BIN: path, ...environment, ...extent });
    for (const result of results) tally.add(result, name);
  }
}

/** @param built those that there are; the native one, which starts faster, is the last */
function executablesFor(
  { words }: TestFile,
  built: readonly Executable["name"][],
): readonly Executable["name"][] {
  if (words.has("native executable")) return built.filter((name) => name === "native");
  // Without a Go plugin it is of interest what still runs, whatever the executable.
  const isOneEnough = goPlugin === "none" || (words.has("one if short") && !options.full);
  const { executable = isOneEnough ? built.at(-1) : undefined } = options;
  if (executable === undefined || !(isOneEnough || words.has("one if short"))) return built;
  return built.filter((name) => name === executable);
}
