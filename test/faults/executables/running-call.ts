/** A running call, which can be stopped and killed. If it does not end, it is killed at its limit. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Call, Outcome } from "../../harness/executable.ts";
import { until } from "../../harness/until.ts";
import type { Context } from "./scenario.ts";

/** The end of a call. */
export interface Ending extends Outcome {
  /** The signal that ended it; null where it ended by itself. */
  readonly signal: string | null;
  /** Whether it was killed because it did not end in time. */
  readonly isCutOff: boolean;
  /** The time from its start to its end, in milliseconds. */
  readonly took: number;
}

/** How a call is run. */
export interface Launch {
  /** How many milliseconds pass until it is killed. */
  readonly limit: number;
  /** The program that runs the executable, with its options; none by default. */
  readonly under?: readonly string[];
  /** If present, the call does not outlive the scenario. */
  readonly teardown?: Context["teardown"];
}

/** How often a call that must continue gets SIGCONT, in milliseconds. */
const WAKE_EVERY = 20;

/** A call that was started without waiting for its end. */
export class RunningCall {
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #limit: number;
  #isOver = false;

  constructor(program: string, call: Call, { limit, under = [], teardown }: Launch) {
    const [file = program, ...args] = [...under, program, ...(call.arguments ?? [])];
    const began = performance.now();
    const child: ChildProcess = spawn(file, args, {
      env: { ...call.environment },
      cwd: call.workingDirectory,
      // Processes that a shell starts must not outlive it.
      detached: true,
      ...(call.user === undefined ? {} : { uid: call.user, gid: call.user }),
    });
    this.#child = child;
    this.#limit = limit;
    let isCutOff = false;
    const clock = setTimeout(() => {
      isCutOff = true;
      killGroup(child);
    }, limit);
    teardown?.(() => {
      if (!this.#isOver) killGroup(child);
    });
    const stdout = gather(child.stdout);
    const stderr = gather(child.stderr);
    // A plugin may end without reading its input.
    child.stdin?.on("error", () => {});
    child.stdin?.end(call.stdin);
    this.ended = new Promise((settle, fail) => {
      child.on("error", fail);
      child.on("close", (exitCode, signal) => {
        clearTimeout(clock);
        this.#isOver = true;
        const took = performance.now() - began;
        settle({ exitCode, signal, stdout: stdout(), stderr: stderr(), isCutOff, took });
      });
    });
  }

  get id(): number {
    return this.#child.pid ?? 0;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Continues a stopped call, however often it is stopped again. */
  goOn(): void {
    const again = setInterval(() => this.#child.kill("SIGCONT"), WAKE_EVERY);
    void this.ended.finally(() => clearInterval(again));
  }

  /**
   * Waits until a condition holds, or until the call has ended.
   *
   * @returns whether the call goes on
   */
  async goesOnUntil(what: string, holds: () => boolean): Promise<boolean> {
    await until(what, () => this.#isOver || holds(), (2 * this.#limit) / 1000);
    return !this.#isOver;
  }

  /** Waits, as in `goesOnUntil`, until the call waits for a lock. */
  awaitsLock(): Promise<boolean> {
    return this.goesOnUntil(`process ${this.id} waits for a lock`, () => waitsForLock(this.id));
  }
}

/** Starts a call and waits for its end. */
export function callWithin(program: string, call: Call, launch: Launch): Promise<Ending> {
  return new RunningCall(program, call, launch).ended;
}

/** Whether a process waits for a lock, by the kernel's lines such as `1: -> FLOCK ADVISORY WRITE 4711 08:01:42 0 EOF`. */
function waitsForLock(processId: number): boolean {
  const locks = readFileSync("/proc/locks", "utf8");
  return new RegExp(`-> FLOCK +\\S+ +\\S+ +${processId} `).test(locks);
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
    // The process ended just now.
  }
}
