/** A call at work: it can be stopped and killed, and is cut off where it does not end. */

import { type ChildProcess, spawn } from "node:child_process";
import type { Call, Outcome } from "../../blackbox/executable.ts";
import type { Context } from "./scenario.ts";

/** What became of a call. */
export interface Ending extends Outcome {
  /** Whether it had to be killed, since it did not end in the time that it had. */
  readonly isCutOff: boolean;
  /** From its start to its end, in milliseconds. */
  readonly took: number;
}

/** How a call is run. */
export interface Launch {
  readonly teardown: Context["teardown"];
  /** After so many milliseconds it is killed. */
  readonly limit: number;
  /** What runs the program, with its options; nothing by default. */
  readonly under?: readonly string[];
}

/** In milliseconds. */
const SO_OFTEN = 20;

/** A call that was started and is not waited for. */
export class RunningCall {
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;

  constructor(program: string, call: Call, { teardown, limit, under = [] }: Launch) {
    const [file = program, ...args] = [...under, program];
    const began = performance.now();
    const child = spawn(file, args, {
      env: { ...call.environment },
      ...(call.user === undefined ? {} : { uid: call.user, gid: call.user }),
    });
    this.#child = child;
    let isCutOff = false;
    const cutOff = setTimeout(() => {
      isCutOff = true;
      child.kill("SIGKILL");
    }, limit);
    teardown(() => child.kill("SIGKILL"));
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on("error", () => {});
    child.stdin.end(call.stdin);
    this.ended = new Promise((settle, fail) => {
      child.on("error", fail);
      child.on("close", (exitCode) => {
        clearTimeout(cutOff);
        settle({
          exitCode,
          stdout: Buffer.concat(stdout).toString("utf8"),
          stderr: Buffer.concat(stderr).toString("utf8"),
          isCutOff,
          took: performance.now() - began,
        });
      });
    });
  }

  get id(): number {
    return this.#child.pid ?? 0;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Lets a call go on that was stopped, however often it is stopped again. */
  goOn(): void {
    const again = setInterval(() => this.#child.kill("SIGCONT"), SO_OFTEN);
    void this.ended.finally(() => clearInterval(again));
  }
}
