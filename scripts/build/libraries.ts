/**
 * The libraries that the native executable is linked with: QuickJS, and for another architecture the C library. What is
 * missing here is fetched from Debian into build/.
 */

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { shellWord } from "../../src/cli/output/shell-word.ts";
import { type Architecture, ownArchitecture, tool } from "./architecture.ts";
import { root } from "./bundle.ts";
import { command, MissingProgram, output } from "./command.ts";
import type { Library } from "./quickjs-pin.ts";

/**
 * The QuickJS library for an architecture: that in build/, or the installed one, which Debian 13 and later have as the
 * package libquickjs.
 *
 * @throws {MissingProgram} where it cannot be fetched
 */
export function quickJsFor(architecture: Architecture): Library {
  const own = architecture === ownArchitecture();
  const fetched = join(root, "build", own ? "quickjs" : `quickjs-${architecture.debian}`);
  const find = () =>
    libraryBelow(join(fetched, "usr"), architecture) ??
    (own ? libraryBelow("/usr", architecture) : undefined);
  const there = find();
  if (there !== undefined) return there;
  fetch("quickjs", architecture);
  const library = find();
  if (library !== undefined) return library;
  throw new MissingProgram(
    "The QuickJS library is missing: on Debian 13 and later install libquickjs; on Debian 12, and for another architecture, it is fetched, see above.",
  );
}

function libraryBelow(prefix: string, architecture: Architecture): Library | undefined {
  const include = join(prefix, "include", "quickjs");
  const archive = join(prefix, "lib", architecture.triplet, "quickjs", "libquickjs.a");
  const isComplete = existsSync(join(include, "quickjs.h")) && existsSync(archive);
  return isComplete ? { architecture, include, archive } : undefined;
}

/**
 * Another QuickJS than Debian's.
 *
 * @param directory its sources, which are built as their Makefile says, or `libquickjs.a` and `quickjs.h`
 * @param work where to build it
 * @throws where it cannot be built
 */
export function otherQuickJs(architecture: Architecture, directory: string, work: string): Library {
  const given = { architecture, include: directory, archive: join(directory, "libquickjs.a") };
  if (!existsSync(join(directory, "quickjs.h"))) {
    throw new Error(
      `${directory} has no quickjs.h, so it is neither QuickJS's sources nor its library`,
    );
  }
  if (!existsSync(join(directory, "quickjs.c"))) return given;
  const copy = join(work, "quickjs");
  rmSync(copy, { recursive: true, force: true });
  cpSync(directory, copy, { recursive: true });
  // As Debian's: the linker leaves out what nothing calls.
  const words = [...gcc(architecture), "-ffunction-sections"];
  const compiler = `CC=${words.map(shellWord).join(" ")}`;
  const archiver = `AR=${tool(architecture, "gcc-ar")}`;
  output(["make", "--silent", `--directory=${copy}`, "libquickjs.a", compiler, archiver]);
  return { architecture, include: copy, archive: join(copy, "libquickjs.a") };
}

/** The compiler for an architecture, with the words that let it take the C library of `sysrootFor`. */
export function gcc(architecture: Architecture): readonly string[] {
  const program = tool(architecture, "gcc");
  if (architecture === ownArchitecture()) return [program];
  const sysroot = sysrootFor(architecture);
  const { triplet } = architecture;
  return [
    ...[program, `--sysroot=${sysroot}`, `-B${sysroot}/usr/lib/${triplet}`],
    // Before the headers of the cross compiler's own C library.
    ...["-isystem", `${sysroot}/usr/include/${triplet}`, "-isystem", `${sysroot}/usr/include`],
  ];
}

/**
 * The static C library that the compiler for an architecture links.
 *
 * @throws {MissingProgram} where the compiler or the library is not installed
 */
export function staticLibraryOfC(architecture: Architecture): string {
  const path = command([...gcc(architecture), "-print-file-name=libc.a"]).trim();
  // Of a file that it does not find the compiler prints the name alone.
  if (isAbsolute(path)) return path;
  throw new MissingProgram("gcc has no static C library: install libc6-dev.");
}

/**
 * The directory of Debian's C library for another architecture: that of the cross compilers gets no security updates.
 *
 * @throws {MissingProgram} where it cannot be fetched
 */
export function sysrootFor(architecture: Architecture): string {
  const sysroot = join(root, "build", `sysroot-${architecture.debian}`);
  if (!existsSync(sysroot)) fetch("sysroot", architecture);
  if (existsSync(sysroot)) return sysroot;
  throw new MissingProgram(`The C library for ${architecture.name} is missing: see above.`);
}

function fetch(script: string, architecture: Architecture): void {
  const words = architecture === ownArchitecture() ? [] : [architecture.debian];
  spawnSync("bash", [join(root, "scripts", "fetch", `${script}.sh`), ...words], {
    stdio: "inherit",
  });
}
