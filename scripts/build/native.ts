/**
 * Builds the native executable: the same program, bundled by esbuild, compiled to QuickJS bytecode,
 * linked statically with Debian's libquickjs and the C host in src/system/quickjs, and run once up to
 * where it waits for a call, which is where each call begins then.
 *
 * Usage: `node scripts/build/native.ts [--checked] [--arch ARCHITECTURE] [--accept-quickjs [--quickjs-version VERSION]]`, through
 * `npm run build:native`. With `--checked` it writes build/native-checked/host-local-checked, which runs
 * under the address and undefined-behaviour sanitizers and frees everything at its end. With `--arch`
 * it builds for another architecture, with Debian's cross compiler and QEMU, into dist/native-ARCHITECTURE.
 * With `--accept-quickjs` it pins the QuickJS library that it finds (see quickjs-pin.ts), under the version of its
 * Debian package, or the given one.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Architecture,
  architectureNamed,
  emulator,
  ownArchitecture,
  tool,
} from "./architecture.ts";
import { bundle, root } from "./bundle.ts";
import { acceptLibrary, type Library, requirePinned } from "./quickjs-pin.ts";

const sources = join(root, "src", "system", "quickjs");

const hostFiles = [
  "host.c",
  "engine.c",
  "allocator.c",
  "call.c",
  "input-output.c",
  "reading.c",
  "files.c",
  "line-files.c",
  "directories.c",
  "lock.c",
  "operator.c",
  "programs.c",
  "agent.c",
  "unused.c",
];

const checkedOptions = [
  ...["-g", "-O1", "-DHOST_CHECKED"],
  ...["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
];

/** The addresses of a snapshot have to stay, so the executable is not position-independent; see SECURITY.md. */
const options = [
  ...["-O2", "-static", "-no-pie", "-s", "-Wl,--gc-sections", "-Wl,--build-id=none"],
  // What is small lies together, and large buffers do not come between: a call touches fewer pages.
  "-Wl,--sort-section=alignment",
  ...["-fstack-protector-strong", "-fstack-clash-protection", "-fno-asynchronous-unwind-tables"],
  ...["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wformat", "-Wformat-security"],
  ...["relro", "now", "noexecstack", "separate-code"].map((word) => `-Wl,-z,${word}`),
];

/** The engine's calls of the C library that engine.c replaces, by the names that they have on the architecture. */
function wrappedCalls({ libraryTime }: Architecture): readonly string[] {
  const names =
    libraryTime === "wide"
      ? ["__gettimeofday64", "__clock_gettime64", "__localtime64_r"]
      : ["gettimeofday", "clock_gettime", "localtime_r"];
  return names.map((name) => `-Wl,--wrap=${name}`);
}

/** On machines of 32 bits: files of more than 2 GiB, and times after 2038. */
function wideTypes({ elf, libraryTime }: Architecture): readonly string[] {
  if (elf.bits === 64) return [];
  return [
    ...["-D_FILE_OFFSET_BITS=64", "-D_TIME_BITS=64"],
    libraryTime === "wide" ? "-DLIBRARY_HAS_WIDE_TIME" : "-DLIBRARY_HAS_NARROW_TIME",
  ];
}

/** In bytes, of a snapshot in which every block begins a page; what it needs is measured. */
const LARGEST_SNAPSHOT = 64 * 1024 * 1024;

const PAGE = 4096;

/** A tool that the build needs is not installed. */
export class MissingTool extends Error {}

/** The exit code that says so. */
export const MISSING_TOOL = 69;

/** The program of the plugin, whose calls are rehearsed. */
const hostLocal = join(root, "src", "native.ts");

/** What to build. */
export interface NativeBuild {
  /** Whether with the sanitizers; then without a snapshot. */
  readonly checked?: boolean;
  /** For which machine; this one by default. */
  readonly architecture?: Architecture;
  /** The program that serves calls. */
  readonly plugin?: string;
  /** The directory for everything that is made on the way. */
  readonly work?: string;
  readonly output?: string;
}

/** Builds the executable, and returns its path. */
export async function buildNative({
  checked = false,
  architecture = ownArchitecture(),
  plugin = hostLocal,
  work = join(root, "build", directoryFor(architecture, checked ? "native-checked" : "native")),
  output = checked
    ? join(work, "host-local-checked")
    : join(root, "dist", directoryFor(architecture, "native"), "host-local"),
}: NativeBuild = {}): Promise<string> {
  const library = libraryOrFetch(architecture);
  requirePinned(library);
  mkdirSync(work, { recursive: true });
  mkdirSync(dirname(output), { recursive: true });
  const compiler = join(work, "compiler");
  compile(library, [join(sources, "compiler.c")], compiler, ["-O2", "-static"]);
  const operator = join(root, "src", "native-operator.ts");
  const files = [
    ...hostFiles.map((file) => join(sources, file)),
    await compileProgram(library, compiler, "plugin", plugin, work),
    await compileProgram(library, compiler, "operator", operator, work),
  ];
  const unfinished = `${output}.unfinished`;
  if (checked) compile(library, files, unfinished, checkedOptions);
  else {
    const archives = withoutUnwinding(library, work);
    linkWithSnapshot(archives, files, unfinished, work, plugin === hostLocal);
  }
  renameSync(unfinished, output);
  return output;
}

/**
 * Copies of the engine's library and of the C library without tables for unwinding the stack, which only exceptions of C++
 * and debuggers read.
 */
function withoutUnwinding(library: Library, work: string): Library {
  const libraries = join(work, "libraries");
  mkdirSync(libraries, { recursive: true });
  const { architecture } = library;
  const ofC = run(tool(architecture, "gcc"), ["-print-file-name=libc.a"]).toString().trim();
  const tables = [".eh_frame", ".rela.eh_frame", ".rel.eh_frame"];
  for (const archive of [library.archive, ofC]) {
    const words = tables.map((name) => `--remove-section=${name}`);
    run(tool(architecture, "objcopy"), [...words, archive, join(libraries, basename(archive))]);
  }
  return { ...library, archive: join(libraries, basename(library.archive)) };
}

/**
 * Links the executable, runs it, and puts the memory that it writes then into it (see engine.h). Twice, since a rehearsal
 * shows how large the section has to be, and what of it calls write.
 */
function linkWithSnapshot(
  library: Library,
  files: readonly string[],
  output: string,
  work: string,
  isRehearsed: boolean,
): void {
  const runner = emulator(library.architecture);
  const link = (words: readonly string[], written: Uint8Array): number => {
    compile(library, files, output, [...options, ...wrappedCalls(library.architecture), ...words]);
    const [program = output, ...rest] = [...runner, output];
    const { status, error, stdout, stderr } = spawnSync(program, rest, {
      env: { PATH: process.env.PATH },
      input: written,
      maxBuffer: 2 * LARGEST_SNAPSHOT,
    });
    if (error !== undefined) throw new MissingTool(missing(program, error));
    if (status !== 0) throw new Error(`The snapshot cannot be made: ${stderr}`);
    const section = join(work, "snapshot");
    writeFileSync(section, stdout);
    run(tool(library.architecture, "objcopy"), [`--update-section=.snapshot=${section}`, output]);
    return Math.ceil(Number(stderr) / PAGE) * PAGE;
  };
  const rehearsal = [`-DSNAPSHOT_SIZE=${LARGEST_SNAPSHOT}`, "-DSNAPSHOT_REHEARSAL"];
  const size = link(rehearsal, new Uint8Array());
  const pages = new Uint8Array(LARGEST_SNAPSHOT / PAGE);
  if (isRehearsed) markWritten(pages, [...runner, output], join(work, "rehearsal"));
  link([`-DSNAPSHOT_SIZE=${size}`], pages);
}

/** Marks the pages of the snapshot that an ADD and a DEL write, by 1; always the same. */
function markWritten(
  pages: Uint8Array,
  [program = "", ...words]: readonly string[],
  directory: string,
): void {
  const ipam = { type: "host-local", dataDir: "data", ranges: [[{ subnet: "10.1.0.0/24" }]] };
  const input = JSON.stringify({ cniVersion: "1.1.0", name: "rehearsal", ipam });
  const attachment = {
    CNI_IFNAME: "eth0",
    CNI_NETNS: "/var/run/netns/c",
    CNI_PATH: "/opt/cni/bin",
  };
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const [verb, id] of [
    ["ADD", "c1"],
    ["ADD", "c2"],
    ["DEL", "c1"],
  ] as const) {
    const call = { ...attachment, CNI_COMMAND: verb, CNI_CONTAINERID: id };
    const env = { ...call, PATH: process.env.PATH };
    const { status, stderr } = spawnSync(program, words, { cwd: directory, env, input });
    if (status !== 0) throw new Error(`The rehearsal of ${verb} ended with ${status}: ${stderr}`);
    for (const [page, mark] of stderr.subarray(-pages.length).entries()) {
      if (mark === 1) pages[page] = 1;
    }
  }
  if (!pages.includes(1)) throw new Error("The rehearsal shows no page that a call writes.");
}

/** Writes a program as C source that holds its bytecode, and returns the path. */
async function compileProgram(
  { architecture }: Library,
  compiler: string,
  name: string,
  entry: string,
  work: string,
): Promise<string> {
  const script = join(work, `${name}.js`);
  const program = join(work, `${name}.c`);
  await bundle({ entry, output: script, engine: "quickjs" });
  const [command = compiler, ...words] = [...emulator(architecture), compiler, name, script];
  writeFileSync(program, run(command, words));
  return program;
}

/** Debian 13 and later have the library as the package libquickjs. */
function findLibrary(architecture: Architecture): Library | undefined {
  const own = architecture === ownArchitecture();
  const fetched = join(root, "build", own ? "quickjs" : `quickjs-${architecture.debian}`, "usr");
  for (const prefix of own ? ["/usr", fetched] : [fetched]) {
    const include = join(prefix, "include", "quickjs");
    const archive = join(prefix, "lib", architecture.triplet, "quickjs", "libquickjs.a");
    if (existsSync(join(include, "quickjs.h")) && existsSync(archive)) {
      return { architecture, include, archive };
    }
  }
  return undefined;
}

/** Finds the library, or fetches it. */
export function libraryOrFetch(architecture: Architecture): Library {
  const present = findLibrary(architecture);
  if (present !== undefined) return present;
  const foreign = architecture === ownArchitecture() ? [] : [architecture.debian];
  spawnSync("bash", [join(root, "scripts/fetch/quickjs.sh"), ...foreign], { stdio: "inherit" });
  const library = findLibrary(architecture);
  if (library === undefined) {
    throw new MissingTool(
      "The QuickJS library is missing: on Debian 13 and later install libquickjs; on Debian 12, and for another architecture, it is fetched, see above.",
    );
  }
  return library;
}

/** Compiles and links C sources with the engine's library, under the sanitizers. */
export function compileChecked(files: readonly string[], output: string): void {
  compile(libraryOrFetch(ownArchitecture()), files, output, checkedOptions);
}

/** Compiles and links C sources with the engine's library for an architecture, statically. */
export function compileFor(
  architecture: Architecture,
  files: readonly string[],
  output: string,
): void {
  compile(libraryOrFetch(architecture), files, output, ["-O2", "-static"]);
}

/** Compiles and links C sources; a warning is an error. */
function compile(
  library: Library,
  files: readonly string[],
  output: string,
  options: readonly string[],
): void {
  const { architecture } = library;
  run(tool(architecture, "gcc"), [
    ...["-std=gnu11", "-Wall", "-Wextra", "-Werror", ...wideTypes(architecture), ...options],
    // The paths of this build do not get into the file: two builds give the same bytes.
    ...[`-ffile-prefix-map=${root}=.`, "-isystem", library.include, ...files, library.archive],
    // A C library beside it is taken instead of the installed one.
    `-L${dirname(library.archive)}`,
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

function directoryFor(architecture: Architecture, name: string): string {
  return architecture === ownArchitecture() ? name : `${name}-${architecture.name}`;
}

function missing(command: string, error: Error): string {
  const packages = command.startsWith("qemu-")
    ? "qemu-user"
    : "gcc and libc6-dev, or for another architecture those of docs/releasing.md";
  return `${command} could not be run: install ${packages}. (${error.message})`;
}

/** Runs a program and returns what it printed. */
function run(command: string, parameters: readonly string[]): Buffer {
  const { status, error, stdout } = spawnSync(command, parameters, {
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) {
    throw new MissingTool(missing(command, error));
  }
  if (status !== 0) throw new Error(`${command} ended with ${status}.`);
  return stdout;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      checked: { type: "boolean", default: false },
      arch: { type: "string", default: ownArchitecture().name },
      "accept-quickjs": { type: "boolean", default: false },
      "quickjs-version": { type: "string" },
    },
  });
  const architecture = architectureNamed(values.arch);
  if (values["accept-quickjs"]) {
    acceptLibrary(libraryOrFetch(architecture), values["quickjs-version"]);
  }
  try {
    const output = await buildNative({ checked: values.checked, architecture });
    console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB`);
  } catch (error) {
    if (!(error instanceof MissingTool)) throw error;
    console.error(error.message);
    process.exitCode = MISSING_TOOL;
  }
}
