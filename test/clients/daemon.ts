/** A program that runs beside a scenario, and waiting for what it does. */

import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import type { Test } from "tap";

/** How long anything is waited for, in milliseconds. */
const PATIENCE = 180_000;

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

/**
 * Waits until a condition holds.
 *
 * @param what what is waited for, for the error
 * @param condition looked at again and again; one that throws does not hold
 * @throws {Error} if it does not hold within three minutes
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + PATIENCE;
  let reason: unknown = "";
  while (Date.now() < deadline) {
    try {
      if (await condition()) return;
    } catch (error) {
      reason = error;
    }
    await new Promise((settle) => setTimeout(settle, 50));
  }
  throw new Error(`waited too long for ${what}. ${reason}`);
}
