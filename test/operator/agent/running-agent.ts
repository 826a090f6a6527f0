/** An agent that runs beside the test. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import net from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Test } from "tap";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";

/** An agent, which ends with the test. */
export interface RunningAgent {
  readonly process: ChildProcess;
  /** Its exit code or signal, once it has ended. */
  readonly ended: Promise<number | string | null>;
  /** What it has written so far. */
  readonly output: () => { readonly stdout: string; readonly stderr: string };
}

/**
 * Starts an agent.
 *
 * @param wrapper a program and its arguments, which runs the agent
 * @param host the executable
 */
export function startAgent(
  t: Pick<Test, "teardown">,
  words: readonly string[],
  wrapper: readonly string[] = [],
  host = executable,
): RunningAgent {
  const [program = "", ...rest] = [...wrapper, host, "agent", ...words];
  const child = spawn(program, rest, {
    env: runtimeEnvironment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<number | string | null>((resolve) => {
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
  t.teardown(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return { process: child, ended, output: () => ({ stdout, stderr }) };
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** What a port answers: the status and the body; `undefined` while nothing listens. */
export async function get(
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly body: string } | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, body: await response.text() };
  } catch {
    return undefined;
  }
}

/** Waits until something is there. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; await setTimeout(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`never: ${what}`);
}

/** The most memory that a process has used, in KiB. */
export function peakMemory(processId: number): number {
  const [, size = ""] =
    /^VmHWM:\s*([0-9]+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
  return Number(size);
}
