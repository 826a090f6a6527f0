/** Calls with any kind of standard stream that are cut off when they do not end. */

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { Call, Outcome } from "../../blackbox/executable.ts";

/** How a call ended that had only so much time. */
export interface CutOffOutcome extends Outcome {
  /** The signal that ended it; null where it ended by itself. */
  readonly signal: string | null;
  /** Whether it was killed because its time was up. */
  readonly cutOff: boolean;
  readonly milliseconds: number;
}

/** Time, streams and command line of a call. */
export interface Limits {
  readonly milliseconds: number;
  /** Where absent, three pipes; where standard input is no pipe, the call's `stdin` is not used. */
  readonly stdio?: StdioOptions;
}

/**
 * Starts a plugin and waits for its end, at most so long.
 *
 * @param program the plugin's path
 * @param call what to give it
 * @param limits how long it may take, and with which streams
 */
export function callWithin(program: string, call: Call, limits: Limits): Promise<CutOffOutcome> {
  return new Promise((settle, fail) => {
    const began = performance.now();
    const child: ChildProcess = spawn(program, [...(call.arguments ?? [])], {
      env: { ...call.environment },
      cwd: call.workingDirectory,
      stdio: limits.stdio ?? "pipe",
      // What a shell started must not outlive it.
      detached: true,
    });
    let cutOff = false;
    const clock = setTimeout(() => {
      cutOff = true;
      killGroup(child);
    }, limits.milliseconds);
    const stdout = gather(child.stdout);
    const stderr = gather(child.stderr);
    child.on("error", fail);
    child.on("close", (exitCode, signal) => {
      clearTimeout(clock);
      settle({
        exitCode,
        signal,
        cutOff,
        stdout: stdout(),
        stderr: stderr(),
        milliseconds: performance.now() - began,
      });
    });
    // A plugin may end without reading its input.
    child.stdin?.on("error", () => {});
    child.stdin?.end(call.stdin);
  });
}

function gather(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended just now.
  }
}
