/**
 * Builds the native executable: the same program, bundled by esbuild, compiled to QuickJS bytecode,
 * and linked statically with Debian's libquickjs and the C host in src/system/quickjs.
 *
 * Usage: `node scripts/build-native.ts [--checked]`, through `npm run build:native`. With `--checked`
 * it writes build/native/host-local-checked, which runs under the address and undefined-behaviour
 * sanitizers and frees everything at its end.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle, root } from "./bundle.ts";

const sources = join(root, "src", "system", "quickjs");
const work = join(root, "build", "native");

/** A tool that the build needs is not installed. */
export class MissingTool extends Error {}

/** The paths of the QuickJS library. */
interface Library {
  readonly include: string;
  readonly archive: string;
}

/** Builds the executable, and returns its path. */
export async function buildNative(checked: boolean): Promise<string> {
  const library = findLibrary() ?? fetchLibrary();
  mkdirSync(work, { recursive: true });
  const programs = [
    await compileProgram(library, "plugin", "native.ts"),
    await compileProgram(library, "operator", "native-operator.ts"),
  ];
  const output = checked
    ? join(work, "host-local-checked")
    : join(root, "dist", "native", "host-local");
  mkdirSync(join(output, ".."), { recursive: true });
  const options = checked
    ? ["-g", "-O1", "-DHOST_CHECKED", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    : ["-O2", "-static", "-s", "-Wl,--gc-sections", "-Wl,--build-id=none"];
  const unfinished = `${output}.unfinished`;
  const host = ["host.c", "file-calls.c", "operator-host.c"].map((file) => join(sources, file));
  compile(library, [...host, ...programs], unfinished, options);
  renameSync(unfinished, output);
  return output;
}

/** Writes a program as C source that holds its bytecode, and returns the path. */
async function compileProgram(library: Library, name: string, entry: string): Promise<string> {
  const script = join(work, `${name}.js`);
  const compiler = join(work, "compiler");
  const program = join(work, `${name}.c`);
  await bundle({ entry: join(root, "src", entry), output: script, engine: "quickjs" });
  compile(library, [join(sources, "compiler.c")], compiler, ["-O2"]);
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

function fetchLibrary(): Library {
  spawnSync("bash", [join(root, "scripts", "fetch-quickjs.sh")], { stdio: "inherit" });
  const library = findLibrary();
  if (library === undefined) {
    throw new MissingTool(
      "The QuickJS library is missing: on Debian 13 and later install libquickjs; on Debian 12 it is fetched, see above.",
    );
  }
  return library;
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
  const output = await buildNative(values.checked);
  console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB`);
}
