/**
 * Builds the native executable: the same program, bundled by esbuild, compiled to QuickJS bytecode,
 * linked statically with Debian's libquickjs and the C host in src/system/quickjs, and run once up to
 * where it waits for a call, which is where each call begins then.
 *
 * Usage: `node scripts/build/native.ts [--checked] [--arch ARCHITECTURE] [--quickjs DIR] [--accept-quickjs
 * [--quickjs-version VERSION]]`, through `npm run build:native`. With `--checked` it writes build/native-checked/host-local-checked, which runs
 * under the address and undefined-behaviour sanitizers and frees everything at its end. With `--arch`
 * it builds for another architecture, with Debian's cross compiler and QEMU, into dist/native-ARCHITECTURE.
 * With `--quickjs DIR` it links another QuickJS, built from its sources in DIR or the `libquickjs.a` there, into
 * dist/native-quickjs.
 * With `--accept-quickjs` it pins the QuickJS library that it finds (see quickjs-pin.ts), under the version of its
 * Debian package, or the given one.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type Architecture,
  architectureNamed,
  emulator,
  ownArchitecture,
  tool,
} from "./architecture.ts";
import { bundleTogether, root } from "./bundle.ts";
import { MissingProgram, output as outputOf } from "./command.ts";
import { gcc, otherQuickJs, quickJsFor, staticLibraryOfC } from "./libraries.ts";
import { acceptLibrary, type Library, requirePinned } from "./quickjs-pin.ts";

const sources = join(root, "src", "system", "quickjs");

const hostFiles = [
  "host.c",
  "snapshot.c",
  "engine.c",
  "allocator.c",
  "out-of-memory.c",
  "text.c",
  "call.c",
  "input-output.c",
  "files.c",
  "line-files.c",
  "directories.c",
  "lock.c",
  "namespaces.c",
  "netlink.c",
  "operator.c",
  "programs.c",
  "agent.c",
];

/**
 * What the libraries would bring along, and nothing here calls. The programs do no trigonometry, and the engine is not
 * built without it: the C library's variants for each kind of processor would be a tenth of the executable. The engine
 * reads and prints floating-point numbers itself, and no stream is of wide characters. The C library ends threads by
 * unwinding their stacks, as for an exception of C++: here are none.
 */
const unused = [
  ...["sin", "cos", "tan", "asin", "acos", "atan", "atan2"],
  ...["d", "f", "ld", "f128"].map((type) => `__strto${type}_internal`),
  ...["__printf_fp", "__printf_fphex", "__vfwprintf_internal"],
  ...["_Unwind_Resume", "__gcc_personality_v0"],
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
  // The stack protector of Debian 12's cross compiler overlooks both on AArch64 (CVE-2023-4039).
  ...["-Wvla", "-Walloca"],
  ...["relro", "now", "noexecstack", "separate-code"].map((word) => `-Wl,-z,${word}`),
  ...unused.map((name) => `-Wl,--defsym=${name}=abort`),
];

/** The engine's calls of the C library that snapshot.c replaces, by the names that they have on the architecture. */
function wrappedCalls({ libraryTime }: Architecture): readonly string[] {
  const names =
    libraryTime === "wide"
      ? ["__gettimeofday64", "__localtime64_r"]
      : ["gettimeofday", "localtime_r"];
  return names.map((name) => `-Wl,--wrap=${name}`);
}

/** On machines of 32 bits: files of more than 2 GiB, and times after 2038. */
function wideTypes({ libraryTime }: Architecture): readonly string[] {
  if (libraryTime === undefined) return [];
  return [
    ...["-D_FILE_OFFSET_BITS=64", "-D_TIME_BITS=64"],
    libraryTime === "wide" ? "-DLIBRARY_HAS_WIDE_TIME" : "-DLIBRARY_HAS_NARROW_TIME",
  ];
}

/** The size of a snapshot in which every block begins a page, in bytes; what it needs is measured. */
const LARGEST_SNAPSHOT = 64 * 1024 * 1024;

const PAGE = 4096;

/** The exit code that says that something has to be installed. */
export const MISSING_TOOL = 69;

/** The program of the plugin, whose calls are rehearsed. */
const hostLocal = join(root, "src", "native.ts");

/** What to build. */
export interface NativeBuild {
  /** Whether with the sanitizers; then without a snapshot. */
  readonly checked?: boolean;
  /** The machine that it is for; this one by default. */
  readonly architecture?: Architecture;
  /** The program that serves calls. */
  readonly plugin?: string;
  /** Another QuickJS than the pinned one: the directory of its sources, or of its library. */
  readonly quickjs?: string;
  /** The directory for everything that is made on the way. */
  readonly work?: string;
  readonly output?: string;
}

/**
 * Builds the executable, and returns its path.
 *
 * @throws {MissingProgram} where something has to be installed
 */
export async function buildNative({
  checked = false,
  architecture = ownArchitecture(),
  plugin = hostLocal,
  quickjs,
  work = join(root, "build", directoryFor(architecture, nameFor(checked, quickjs))),
  output = checked
    ? join(work, "host-local-checked")
    : join(root, "dist", directoryFor(architecture, nameFor(checked, quickjs)), "host-local"),
}: NativeBuild = {}): Promise<string> {
  // Asked for before QuickJS, which is fetched where it is not installed.
  staticLibraryOfC(architecture);
  mkdirSync(work, { recursive: true });
  mkdirSync(dirname(output), { recursive: true });
  const given =
    quickjs === undefined ? quickJsFor(architecture) : otherQuickJs(architecture, quickjs, work);
  if (quickjs === undefined) requirePinned(given);
  const library = withOldNames(given, work);
  const archives = withoutUnwinding(library, work);
  const compiler = join(work, "compiler");
  compile(archives, [join(sources, "compiler.c")], compiler, ["-O2", "-static"]);
  const entry = join(root, "src", "native-operator.ts");
  const [first, second] = await bundleTogether(plugin, entry);
  const program = compileProgram(library, compiler, first);
  const operator = sourceOf("operator", compileProgram(library, compiler, second), work);
  const files = [...hostFiles.map((file) => join(sources, file)), operator];
  const unfinished = `${output}.unfinished`;
  if (checked) {
    compile(library, [...files, sourceOf("plugin", program, work)], unfinished, checkedOptions);
  } else {
    linkWithSnapshot(archives, files, program, unfinished, work, plugin === hostLocal);
  }
  renameSync(unfinished, output);
  return output;
}

/**
 * A copy of the engine's library for any glibc: Debian's was compiled against 2.38, which gives some functions new names.
 */
function withOldNames(library: Library, work: string): Library {
  const archive = join(work, basename(library.archive));
  const words = ["strtol", "strtoll", "strtoul", "strtoull"].map(
    (name) => `--redefine-sym=__isoc23_${name}=${name}`,
  );
  outputOf([tool(library.architecture, "objcopy"), ...words, library.archive, archive]);
  return { ...library, archive };
}

/**
 * Copies of the engine's library and of the C library without tables for unwinding the stack, which only exceptions of C++
 * and debuggers read.
 */
function withoutUnwinding(library: Library, work: string): Library {
  const libraries = join(work, "libraries");
  mkdirSync(libraries, { recursive: true });
  const { architecture } = library;
  // Those of Debian 13 for riscv64 have relocations that Debian 12's linker does not know.
  const tables = [".eh_frame", ".gcc_except_table"].flatMap((name) => [
    name,
    `.rela${name}`,
    `.rel${name}`,
  ]);
  const words = tables.map((name) => `--remove-section=${name}`);
  for (const archive of [library.archive, staticLibraryOfC(architecture)]) {
    outputOf([
      tool(architecture, "objcopy"),
      ...words,
      archive,
      join(libraries, basename(archive)),
    ]);
  }
  return { ...library, archive: join(libraries, basename(library.archive)) };
}

/**
 * Links the executable, runs it, and puts the memory that it writes then into it (see snapshot.h). Twice, since a rehearsal
 * shows how large the section has to be, and what of it calls write.
 */
function linkWithSnapshot(
  library: Library,
  files: readonly string[],
  plugin: Uint8Array,
  output: string,
  work: string,
  isRehearsed: boolean,
): void {
  const runner = emulator(library.architecture);
  const link = (words: readonly string[], written: Uint8Array): number => {
    // What of the libraries is linked: the reasons in docs/data/vulnerabilities.json are tested with it.
    const map = ["-Xlinker", `-Map=${join(work, "link.map")}`];
    const wrapped = wrappedCalls(library.architecture);
    compile(library, files, output, [...options, ...wrapped, ...map, ...words]);
    const [program = output, ...rest] = [...runner, output];
    const { status, error, stdout, stderr } = spawnSync(program, rest, {
      env: { PATH: process.env.PATH },
      input: Buffer.concat([written, plugin]),
      maxBuffer: 2 * LARGEST_SNAPSHOT,
    });
    if (error !== undefined) throw MissingProgram.of(program, error);
    if (status !== 0) throw new Error(`The snapshot cannot be made: ${stderr}`);
    const section = join(work, "snapshot");
    writeFileSync(section, stdout);
    outputOf([
      tool(library.architecture, "objcopy"),
      `--update-section=.snapshot=${section}`,
      output,
    ]);
    return Math.ceil(Number(stderr) / PAGE) * PAGE;
  };
  const rehearsal = [`-DSNAPSHOT_SIZE=${LARGEST_SNAPSHOT}`, "-DSNAPSHOT_REHEARSAL"];
  const pages = new Uint8Array(LARGEST_SNAPSHOT / PAGE);
  const size = link(rehearsal, pages);
  if (isRehearsed) markWritten(pages, [...runner, output], join(work, "rehearsal"));
  // What the engine gives back is used again only where it is known what calls write, so there is less.
  const used = link([`-DSNAPSHOT_SIZE=${size}`], pages);
  if (used < size) link([`-DSNAPSHOT_SIZE=${used}`], pages);
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

/** The bytecode of a program. */
function compileProgram({ architecture }: Library, compiler: string, program: string): Uint8Array {
  return outputOf([...emulator(architecture), compiler], { input: program });
}

/** Writes C source that includes a program's bytecode, and returns the path. */
function sourceOf(name: string, bytecode: Uint8Array, work: string): string {
  const [path, source] = [join(work, `${name}.bytecode`), join(work, `${name}.c`)];
  writeFileSync(path, bytecode);
  // The assembler reads it; as numbers in C, it would be most of what the compiler reads.
  const text = `#include <stddef.h>
__asm__(".section .rodata\\n.balign 16\\n.globl ${name}_program\\n${name}_program: .incbin \\"${path}\\"\\n.previous");
extern const size_t ${name}_program_size;
const size_t ${name}_program_size = ${bytecode.length};
`;
  writeFileSync(source, text);
  return source;
}

/** Compiles and links C sources with the engine's library, under the sanitizers. */
export function compileChecked(files: readonly string[], output: string): void {
  compile(quickJsFor(ownArchitecture()), files, output, checkedOptions);
}

/** Compiles and links C sources with the engine's library for an architecture, statically; the directory of the output is for this. */
export function compileFor(
  architecture: Architecture,
  files: readonly string[],
  output: string,
): void {
  const archives = withoutUnwinding(quickJsFor(architecture), dirname(output));
  compile(archives, files, output, ["-O2", "-static"]);
}

/** Compiles and links C sources; a warning is an error. */
function compile(
  library: Library,
  files: readonly string[],
  output: string,
  options: readonly string[],
): void {
  const { architecture } = library;
  outputOf([
    ...gcc(architecture),
    ...["-std=gnu11", "-Wall", "-Wextra", "-Werror", ...wideTypes(architecture), ...options],
    // The paths of this build do not get into the file: two builds give the same bytes.
    ...[`-ffile-prefix-map=${root}=.`, "-isystem", library.include, ...files, library.archive],
    // A C library beside it is taken instead of the installed one.
    `-L${dirname(library.archive)}`,
    ...["-lm", "-lpthread", "-o", output],
  ]);
}

function nameFor(checked: boolean, quickjs: string | undefined): string {
  if (checked) return "native-checked";
  return quickjs === undefined ? "native" : "native-quickjs";
}

function directoryFor(architecture: Architecture, name: string): string {
  return architecture === ownArchitecture() ? name : `${name}-${architecture.name}`;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      checked: { type: "boolean", default: false },
      arch: { type: "string", default: ownArchitecture().name },
      quickjs: { type: "string" },
      "accept-quickjs": { type: "boolean", default: false },
      "quickjs-version": { type: "string" },
    },
  });
  const architecture = architectureNamed(values.arch);
  if (values["accept-quickjs"]) {
    acceptLibrary(quickJsFor(architecture), values["quickjs-version"]);
  }
  try {
    const { checked, quickjs } = values;
    const other = quickjs === undefined ? {} : { quickjs: resolve(quickjs) };
    const output = await buildNative({ checked, architecture, ...other });
    console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB`);
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error;
    console.error(error.message);
    process.exitCode = MISSING_TOOL;
  }
}
