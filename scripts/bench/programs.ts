/** The programs that are measured side by side. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { root } from "../build/bundle.ts";
import { buildExecutable } from "../build/portable.ts";

/** In the order of their turns; the floor makes the native executable's system calls without an engine, see floor.ts. */
export const PROGRAMS = ["go", "native", "floor", "portable", "empty"] as const;

export type ProgramName = (typeof PROGRAMS)[number];

export interface Program {
  readonly name: ProgramName;
  readonly executable: string;
  /** The newest version of the specification that it supports; the empty program supports none. */
  readonly cniVersion: string;
}

/**
 * Finds the programs, and builds the empty one.
 *
 * @param directory where the empty one is built
 */
export async function findPrograms(directory: string): Promise<readonly Program[]> {
  const executables = {
    go: findGoPlugin(),
    native: join(root, "dist", "native", "host-local"),
    portable: join(root, "dist", "host-local"),
  };
  return [
    ...(["go", "native", "portable"] as const).map((name) => {
      const executable = executables[name];
      return { name, executable, cniVersion: newestCniVersion(executable) };
    }),
    { name: "empty", executable: await buildEmptyProgram(directory), cniVersion: "1.1.0" },
  ];
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

/** The version of a Go plugin: Debian's builds do not know it; the changelog of their package does. */
export function goVersion(executable: string): string {
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

function newestCniVersion(executable: string): string {
  const env = { CNI_COMMAND: "VERSION" };
  const { stdout } = spawnSync(executable, { env, encoding: "utf8" });
  return JSON.parse(stdout).supportedVersions.at(-1);
}
