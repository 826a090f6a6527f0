/**
 * Builds the native executable: the same program, bundled by esbuild, compiled to QuickJS bytecode,
 * linked statically with Debian's libquickjs and the C host in src/system/quickjs, and run once up to
 * where it waits for a call, which is where each call begins then.
 *
 * Usage: `node scripts/build-native.ts [--checked]`, through `npm run build:native`. With `--checked`
 * it writes build/native-checked/host-local-checked, which runs under the address and undefined-behaviour
 * sanitizers and frees everything at its end.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { bundle, root } from "./bundle.ts";

const sources = join(root, "src", "system", "quickjs");

const hostFiles = [
  "host.c",
  "engine.c",
  "allocator.c",
  "file-calls.c",
  "line-files.c",
  "directories.c",
  "operator-host.c",
  "agent-host.c",
  "unused-math.c",
];

const checkedOptions = [
  ...["-g", "-O1", "-DHOST_CHECKED"],
  ...["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
];

/** The addresses of a snapshot have to stay, so the executable is not position-independent; see SECURITY.md. */
const options = [
  ...["-O2", "-static", "-no-pie", "-s", "-Wl,--gc-sections", "-Wl,--build-id=none"],
  ...["-fstack-protector-strong", "-fstack-clash-protection"],
  ...["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wformat", "-Wformat-security"],
  ...["relro", "now", "noexecstack", "separate-code"].map((word) => `-Wl,-z,${word}`),
  ...["gettimeofday", "clock_gettime", "localtime_r"].map((name) => `-Wl,--wrap=${name}`),
];

/** In bytes; what a snapshot needs is measured. */
const LARGEST_SNAPSHOT = 8 * 1024 * 1024;

const PAGE = 4096;

/** A tool that the build needs is not installed. */
export class MissingTool extends Error {}

/** The paths of the QuickJS library. */
interface Library {
  readonly include: string;
  readonly archive: string;
}

/** What to build. */
export interface NativeBuild {
  /** Whether with the sanitizers; then without a snapshot. */
  readonly checked?: boolean;
  /** The program that serves calls. */
  readonly plugin?: string;
  /** The directory for everything that is made on the way. */
  readonly work?: string;
  readonly output?: string;
}

/** Builds the executable, and returns its path. */
export async function buildNative({
  checked = false,
  plugin = join(root, "src", "native.ts"),
  work = join(root, "build", checked ? "native-checked" : "native"),
  output = checked ? join(work, "host-local-checked") : join(root, "dist", "native", "host-local"),
}: NativeBuild = {}): Promise<string> {
  const library = libraryOrFetch();
  mkdirSync(work, { recursive: true });
  mkdirSync(dirname(output), { recursive: true });
  const compiler = join(work, "compiler");
  compile(library, [join(sources, "compiler.c")], compiler, ["-O2"]);
  const operator = join(root, "src", "native-operator.ts");
  const files = [
    ...hostFiles.map((file) => join(sources, file)),
    await compileProgram(compiler, "plugin", plugin, work),
    await compileProgram(compiler, "operator", operator, work),
  ];
  const unfinished = `${output}.unfinished`;
  if (checked) compile(library, files, unfinished, checkedOptions);
  else linkWithSnapshot(library, files, unfinished, join(work, "snapshot"));
  renameSync(unfinished, output);
  return output;
}

/**
 * Links the executable, runs it, and puts the memory that it writes then into it (see engine.h). Twice, since only the
 * first run shows how large the section has to be.
 */
function linkWithSnapshot(
  library: Library,
  files: readonly string[],
  output: string,
  section: string,
): void {
  let size = LARGEST_SNAPSHOT;
  for (const _ of ["to measure", "to keep"]) {
    compile(library, files, output, [...options, `-DSNAPSHOT_SIZE=${size}`]);
    const { status, stdout, stderr } = spawnSync(output, { env: {}, maxBuffer: 2 * size });
    if (status !== 0) throw new Error(`The snapshot cannot be made: ${stderr}`);
    writeFileSync(section, stdout);
    size = Math.ceil(Number(stderr) / PAGE) * PAGE;
  }
  run("objcopy", [`--update-section=.snapshot=${section}`, output]);
}

/** Writes a program as C source that holds its bytecode, and returns the path. */
async function compileProgram(
  compiler: string,
  name: string,
  entry: string,
  work: string,
): Promise<string> {
  const script = join(work, `${name}.js`);
  const program = join(work, `${name}.c`);
  await bundle({ entry, output: script, engine: "quickjs" });
  writeFileSync(program, run(compiler, [name, script]));
  return program;
}

/** Debian 13 and later have the library as the package libquickjs. */
function findLibrary(): Library | undefined {
  for (const prefix of ["/usr", join(root, "build", "quickjs", "usr")]) {
    const libraries = join(prefix, "lib");
    if (!existsSync(join(prefix, "include", "quickjs", "quickjs.h"))) continue;
    for (const triplet of readdirSync(libraries)) {
      const archive = join(libraries, triplet, "quickjs", "libquickjs.a");
      if (existsSync(archive)) return { include: join(prefix, "include", "quickjs"), archive };
    }
  }
  return undefined;
}

function libraryOrFetch(): Library {
  const present = findLibrary();
  if (present !== undefined) return present;
  spawnSync("bash", [join(root, "scripts", "fetch-quickjs.sh")], { stdio: "inherit" });
  const library = findLibrary();
  if (library === undefined) {
    throw new MissingTool(
      "The QuickJS library is missing: on Debian 13 and later install libquickjs; on Debian 12 it is fetched, see above.",
    );
  }
  return library;
}

/** Compiles and links C sources with the engine's library, under the sanitizers. */
export function compileChecked(files: readonly string[], output: string): void {
  compile(libraryOrFetch(), files, output, checkedOptions);
}

/** Compiles and links C sources; a warning is an error. */
function compile(
  library: Library,
  files: readonly string[],
  output: string,
  options: readonly string[],
): void {
  run("gcc", [
    ...["-std=gnu11", "-Wall", "-Wextra", "-Werror", ...options],
    // The paths of this build do not get into the file: two builds give the same bytes.
    ...[`-ffile-prefix-map=${root}=.`, "-isystem", library.include, ...files, library.archive],
    ...[...forOlderLibc(), "-lm", "-lpthread", "-o", output],
  ]);
}

/** What the library needs from a newer C library than this one; see older-libc.c. */
function forOlderLibc(): readonly string[] {
  const version = run("getconf", ["GNU_LIBC_VERSION"]).toString();
  const [major = 0, minor = 0] = version
    .replace(/[^0-9.]/g, "")
    .split(".")
    .map(Number);
  return major > 2 || minor >= 38 ? [] : [join(sources, "older-libc.c")];
}

/** Runs a program and returns what it printed. */
function run(command: string, parameters: readonly string[]): Buffer {
  const { status, error, stdout } = spawnSync(command, parameters, {
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) {
    throw new MissingTool(
      `${command} could not be run: install gcc and libc6-dev. (${error.message})`,
    );
  }
  if (status !== 0) throw new Error(`${command} ended with ${status}.`);
  return stdout;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { checked: { type: "boolean", default: false } } });
  const output = await buildNative({ checked: values.checked });
  console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB`);
}
