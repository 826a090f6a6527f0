/** The executable under test, started exactly as a container runtime starts a plugin. */

import { spawn, spawnSync } from "node:child_process";
import { requireCurrentBuild } from "./build-age.ts";
import { inRepository } from "./repository.ts";
import { ownRuntimeDirectory } from "./runtime-directory.ts";

/** One start of a plugin: its environment, what it reads, and where it stands. */
export interface Call {
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array;
  readonly workingDirectory?: string;
  readonly arguments?: readonly string[];
  /** The user and group number to run as; the caller's own where absent. */
  readonly user?: number;
}

/** The outcome of a plugin's start, as its caller sees it. `exitCode` is null after a signal. */
export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const { HOST_LOCAL_BIN = "dist/host-local" } = process.env;

/** The executable under test: `HOST_LOCAL_BIN`, else `dist/host-local` of this repository. */
export const executable = inRepository(HOST_LOCAL_BIN);

/** Why tests of an executable are skipped: with `HOST_LOCAL_BIN=none` only tests in memory are of interest. */
export const skipWithoutExecutable: string | false =
  HOST_LOCAL_BIN === "none" ? "HOST_LOCAL_BIN says that there is no executable." : false;

// Only a test file needs the executable: build scripts import this file, too, and behaviours also run in memory.
const [, started = ""] = process.argv;
if (started.endsWith(".test.ts")) {
  requireCurrentBuild(executable);
  if (skipWithoutExecutable !== false && !started.includes("/behaviours/")) {
    console.log(`TAP version 14\n1..0 # SKIP ${skipWithoutExecutable}`);
    process.exit(0);
  }
}

/** Whether the executable under test is the native one. */
export const isNative: boolean = executable === inRepository("dist/native/host-local");

/** Whether the executable under test is the portable one, which takes ten times as long. */
export const isPortable: boolean = executable === inRepository("dist/host-local");

/** The time after which a hanging plugin is killed, in milliseconds; no call takes this long. */
const longestCall = 180_000;

// Vectors and the Go plugin's file modes are stated for this mask; children inherit it.
process.umask(0o022);

/**
 * Runs a plugin with the given environment and with the place for its failures, and waits for its end.
 *
 * @param program the plugin's path
 * @param call what to give it
 */
export function run(program: string, call: Call): Outcome {
  const child = spawnSync(program, [...(call.arguments ?? [])], {
    ...processOptions(call),
    input: call.stdin,
    maxBuffer: 64 * 1024 * 1024,
  });
  const fault = child.error;
  if (child.status === null && child.signal === null && fault !== undefined) {
    throw fault;
  }
  return {
    exitCode: child.status,
    stdout: child.stdout.toString("utf8"),
    stderr: child.stderr.toString("utf8"),
  };
}

/**
 * Starts a plugin as {@link run} does, without waiting, so that many run side by side.
 *
 * @param program the plugin's path
 * @param call what to give it
 */
export function start(program: string, call: Call): Promise<Outcome> {
  return new Promise((settle, fail) => {
    const child = spawn(program, [...(call.arguments ?? [])], processOptions(call));
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    // A plugin may end without reading its input (VERSION does).
    child.stdin.on("error", () => {});
    child.on("error", fail);
    child.on("close", (exitCode) => {
      settle({
        exitCode,
        stdout: Buffer.concat(stdout).toString("utf8"),
        stderr: Buffer.concat(stderr).toString("utf8"),
      });
    });
    child.stdin.end(call.stdin);
  });
}

function processOptions(call: Call) {
  return {
    env: { ...ownRuntimeDirectory, ...call.environment },
    timeout: longestCall,
    ...(call.workingDirectory === undefined ? {} : { cwd: call.workingDirectory }),
    ...(call.user === undefined ? {} : { uid: call.user, gid: call.user }),
  };
}
