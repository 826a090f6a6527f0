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
   * @param log the file for what it prints
   * @param command the program and its arguments
   */
  constructor(t: Pick<Test, "teardown">, log: string, command: readonly [string, ...string[]]) {
    const [program, ...args] = command;
    const output = openSync(log, "a");
    this.#child = spawn(program, args, { stdio: ["ignore", output, output] });
    this.#log = log;
    t.teardown(() => this.kill());
  }

  /** Whether it still runs. */
  get runs(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What it has printed. */
  get output(): string {
    return readFileSync(this.#log, "utf8");
  }

  /** Kills it with SIGKILL. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Asks it to end, with SIGTERM. */
  terminate(): void {
    this.#child.kill("SIGTERM");
  }

  /** Waits for its end. */
  async end(): Promise<void> {
    await until("the end of a program", () => !this.runs);
  }
}
