/** The programs that are measured side by side. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { root } from "../build/bundle.ts";
import { buildExecutable } from "../build/portable.ts";

/**
 * In the order of their turns, tables and legends. The floor makes the native executable's system calls without an engine,
 * see floor.ts; `before` is an earlier portable executable.
 */
export const PROGRAMS = ["go", "native", "floor", "portable", "before", "empty"] as const;

export type ProgramName = (typeof PROGRAMS)[number];

export interface Program {
  readonly name: ProgramName;
  readonly executable: string;
  readonly version: string;
  /** The file's size. */
  readonly bytes: number;
  /** The newest version of the specification that it supports; the empty program supports none. */
  readonly cniVersion: string;
}

/**
 * Finds the programs, builds the empty one, and asks each what it is.
 *
 * @param directory where the empty one is built
 * @param before an earlier portable executable, if there is one to compare with
 */
export async function findPrograms(
  directory: string,
  before: string | undefined,
): Promise<readonly Program[]> {
  const go = findGoPlugin();
  const native = join(root, "dist", "native", "host-local");
  const portable = join(root, "dist", "host-local");
  const empty = await buildEmptyProgram(directory);
  return [
    program("go", go, packageVersion(go)),
    program("native", native, aboutVersion(native)),
    program("portable", portable, aboutVersion(portable)),
    ...(before === undefined ? [] : [program("before", before, aboutVersion(before))]),
    program("empty", empty, `Node.js ${nodeVersion()}`),
  ];
}

function program(name: ProgramName, executable: string, version: string): Program {
  const { size } = statSync(executable);
  const cniVersion = name === "empty" ? "1.1.0" : newestCniVersion(executable);
  return { name, executable, version, bytes: size, cniVersion };
}

/** The newest Go plugin of Debian if it was fetched, or else the installed one. */
function findGoPlugin(): string {
  const fetched = join(root, "build", "go-plugins", "usr", "lib", "cni", "host-local");
  const installed = "/usr/lib/cni/host-local";
  if (!existsSync(fetched)) {
    spawnSync("bash", [join(root, "scripts/fetch/go-plugins.sh")], { stdio: "inherit" });
  }
  for (const executable of [fetched, installed]) {
    if (existsSync(executable)) return executable;
  }
  throw new Error(
    "There is no Go host-local to compare with: run `npm run fetch -- go-plugins`, or install Debian's containernetworking-plugins.",
  );
}

/** Debian's builds do not know their version; the changelog of their package does. */
function packageVersion(executable: string): string {
  const documents = join(executable, "../../../share/doc/containernetworking-plugins");
  const changelog = join(documents, "changelog.Debian.gz");
  if (!existsSync(changelog)) return "unknown";
  const text = gunzipSync(readFileSync(changelog)).toString();
  return /\(([^+)-]*)/.exec(text)?.[1] ?? "unknown";
}

/** An empty file in the same Node.js, built like the portable executable. */
async function buildEmptyProgram(directory: string): Promise<string> {
  mkdirSync(directory, { recursive: true });
  const entry = join(directory, "empty.ts");
  const output = join(directory, "empty");
  writeFileSync(entry, "");
  await buildExecutable({ entry, output });
  return output;
}

/** The name and version that an executable prints without a command. */
function aboutVersion(executable: string): string {
  const { stderr } = spawnSync(executable, { env: {}, encoding: "utf8" });
  return /plugin (.*)/.exec(stderr)?.[1] ?? "unknown";
}

function nodeVersion(): string {
  const description = readFileSync(join(root, "node_modules", "node", "package.json"), "utf8");
  return JSON.parse(description).version;
}

function newestCniVersion(executable: string): string {
  const env = { CNI_COMMAND: "VERSION" };
  const { stdout } = spawnSync(executable, { env, encoding: "utf8" });
  return JSON.parse(stdout).supportedVersions.at(-1);
}
