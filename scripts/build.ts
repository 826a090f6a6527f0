/**
 * Builds the portable executable: esbuild bundles the program into one file, and pkg puts that file
 * into a copy of the Node.js that the npm package `node` ships. Nothing is downloaded.
 *
 * Usage: `node scripts/build.ts [--entry FILE] [--out FILE]`, through `npm run build`.
 */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import pkg from "@yao-pkg/pkg/lib-es5/sea.js";
import { bundle, root } from "./bundle.ts";

/** What to build, and where to put it. */
export interface BuildOptions {
  /** The TypeScript or JavaScript file to start from. */
  readonly entry: string;
  /** The executable to write. */
  readonly output: string;
}

const workDirectory = join(root, "build");
const shippedNode = join(root, "node_modules", "node", "bin", "node");

/**
 * Environment variables that change what Node.js, or a library in it, does before or while the
 * program runs: they load code, write files, print, or end the process. A plugin is started with
 * whatever its runtime's environment holds, so the executable must not know these names.
 * `NODE_OPTIONS` heads the list although `execArgvExtension` already switches it off.
 */
const ignoredVariables = [
  "NODE_OPTIONS",
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "NODE_COMPILE_CACHE",
  "NODE_DEBUG",
  "NODE_EXTRA_CA_CERTS",
  "NODE_ICU_DATA",
  "NODE_NO_WARNINGS",
  "NODE_PATH",
  "NODE_PENDING_DEPRECATION",
  "NODE_PRESERVE_SYMLINKS",
  "NODE_REDIRECT_WARNINGS",
  "NODE_REPL_EXTERNAL_MODULE",
  "NODE_TEST_CONTEXT",
  "NODE_UNIQUE_ID",
  "NODE_USE_ENV_PROXY",
  "NODE_USE_SYSTEM_CA",
  "NODE_V8_COVERAGE",
  "FORCE_COLOR",
  "ICU_TIMEZONE_FILES_DIR",
  "OPENSSL_CONF",
  "OPENSSL_ia32cap",
  "SIMDUTF_FORCE_IMPLEMENTATION",
] as const;

/** Builds one executable, the program or an empty one to compare with. */
export async function buildExecutable({ entry, output }: BuildOptions): Promise<void> {
  if (process.platform !== "linux") {
    throw new Error(`The executable is built on Linux, not on ${process.platform}.`);
  }
  mkdirSync(workDirectory, { recursive: true });
  const program = join(workDirectory, `${basename(output)}.cjs`);
  await bundle({ entry, output: program, engine: "node" });
  const base = join(workDirectory, `${basename(output)}.node`);
  prepareNode(base);
  await packProgram(program, base, resolve(output));
  rmSync(base);
}

/** Writes a copy of the shipped Node.js that ignores `ignoredVariables` and holds no symbols. */
function prepareNode(base: string): void {
  if (!existsSync(shippedNode)) {
    throw new Error(
      "The npm package `node` is not installed: run `npm ci` with install scripts allowed.",
    );
  }
  const image = readFileSync(shippedNode);
  ignoredVariables.forEach((name) => {
    forgetName(image, name);
  });
  writeFileSync(base, image);
  chmodSync(base, 0o755);
  const strip = spawnSync("strip", [base], { stdio: "inherit" });
  if (strip.status !== 0) {
    console.warn("`strip` (Debian package binutils) did not run: the executable stays larger.");
  }
}

/**
 * Replaces the first letter of a variable's name wherever it stands: in C++ constants, in the
 * built-in JavaScript, and in the start-up snapshot. Lengths, and so all offsets, stay the same.
 *
 * @throws When the name is not found, since then Node.js changed and the list must be read again.
 */
function forgetName(image: Buffer, name: string): void {
  let position = image.indexOf(name);
  if (position === -1) {
    throw new Error(`This Node.js does not mention ${name}: review ignoredVariables.`);
  }
  while (position !== -1) {
    image.write("_", position);
    position = image.indexOf(name, position + name.length);
  }
}

/** Puts the bundle into the base with pkg, in simple single-executable mode. */
async function packProgram(program: string, base: string, output: string): Promise<void> {
  const seaConfig = {
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: true,
    // No Node.js option from outside: all arguments and variables are the program's own.
    execArgvExtension: "none",
  };
  const unfinished = `${output}.unfinished`;
  await pkg.default(program, {
    nodePath: base,
    seaConfig,
    targets: [{ nodeRange: "node26", platform: "linux", arch: process.arch, output: unfinished }],
  });
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, output);
  console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      entry: { type: "string", default: join(root, "src", "portable.ts") },
      out: { type: "string", default: join(root, "dist", "host-local") },
    },
  });
  await buildExecutable({ entry: values.entry, output: values.out });
}
