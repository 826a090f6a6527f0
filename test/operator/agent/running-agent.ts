/** An agent that runs beside the test. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import net from "node:net";
import type { Test } from "tap";
import { shellCommand } from "../../../src/operator/next-command.ts";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";

/** An agent, which ends with the test. */
export interface RunningAgent {
  readonly process: ChildProcess;
  /** Its exit code or signal, once it has ended. */
  readonly ended: Promise<number | string | null>;
  /** What it has written so far. */
  readonly output: () => { readonly stdout: string; readonly stderr: string };
  /** Waits until it has written a text to a stream; fails if it ends without. */
  readonly written: (stream: "stdout" | "stderr", text: string) => Promise<void>;
}

/** An interval, and a task whose words are those of one command line. */
export function every(interval: string, ...words: readonly string[]): readonly string[] {
  return ["--every", interval, shellCommand(words)];
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
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].on("data", (chunk) => {
      output[stream] += chunk;
    });
  }
  const ended = new Promise<number | string | null>((resolve) => {
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
  t.teardown(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const written: RunningAgent["written"] = (stream, text) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output[stream].includes(text)) resolve();
      };
      child[stream].on("data", look);
      child.on("close", () =>
        reject(new Error(`It ended without writing ${text} but ${output[stream]}`)),
      );
      look();
    });
  return { process: child, ended, output: () => ({ ...output }), written };
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

/** What a port of this machine answers: the status and the body; `undefined` while nothing listens. */
export async function get(
  port: number,
  path: string,
  address = "127.0.0.1",
): Promise<{ readonly status: number; readonly body: string } | undefined> {
  try {
    const response = await fetch(`http://${address}:${port}${path}`);
    return { status: response.status, body: await response.text() };
  } catch {
    return undefined;
  }
}

/** The most memory that a process has used, in KiB. */
export function peakMemory(processId: number): number {
  const [, size = ""] =
    /^VmHWM:\s*([0-9]+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
  return Number(size);
}
