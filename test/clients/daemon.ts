/** A program that runs beside a scenario. */

import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import type { Test } from "tap";
import { until } from "../harness/until.ts";

/** A program started by a scenario, killed at its end. */
export class Daemon {
  readonly #child: ChildProcess;
  readonly #log: string;

  /**
   * Starts it.
   *
   * @param t the test that owns it
   * @param log the file for its output
   * @param command the program and its arguments
   */
  constructor(t: Pick<Test, "teardown">, log: string, command: readonly [string, ...string[]]) {
    const [program, ...args] = command;
    const output = openSync(log, "a");
    this.#child = spawn(program, args, { stdio: ["ignore", output, output] });
    this.#log = log;
    t.teardown(() => this.#child.kill("SIGKILL"));
  }

  /** Whether it still runs. */
  get runs(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Waits until it has done something.
   *
   * @throws {Error} with its output if it ends before
   */
  async until(what: string, isDone: () => boolean | Promise<boolean>): Promise<void> {
    await until(what, async () => !this.runs || (await isDone()));
    if (!this.runs) throw new Error(this.output);
  }

  /** Its output so far. */
  get output(): string {
    return readFileSync(this.#log, "utf8");
  }

  /** Ends it by a signal, and waits for its end. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#child.kill(signal);
    await this.end();
  }

  /** Waits for its end. */
  async end(): Promise<void> {
    await until("the end of a program", () => !this.runs);
  }
}
