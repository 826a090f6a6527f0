/** Another process that takes the lock, as `lock-holder.ts` does. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { until } from "../../harness/until.ts";

/** The script that it runs. */
const lockHolder = fileURLToPath(new URL("lock-holder.ts", import.meta.url));

/** How to start it. */
export interface LockProcessOptions {
  /** In milliseconds. */
  readonly timeout?: number;
  /** Options of Node.js. */
  readonly options?: readonly string[];
  /** A program that starts it, with its arguments. */
  readonly starter?: readonly string[];
}

/** A process that waits for the lock, and holds it until it is told to release it. */
export class LockProcess {
  readonly #child: ChildProcess;
  /** Waited for from the beginning: it may end, of itself, before anybody asks. */
  readonly #ended: Promise<unknown>;
  #stdout = "";
  #stderr = "";
  #hasEnded = false;

  constructor(
    t: Pick<Test, "teardown">,
    directory: string,
    { timeout = 0, options = [], starter = [] }: LockProcessOptions = {},
  ) {
    const node = [process.execPath, ...options, lockHolder, directory, String(timeout)];
    const [command = "", ...parameters] = [...starter, ...node];
    this.#child = spawn(command, parameters, { stdio: "pipe" });
    this.#child.stdout?.on("data", (data) => {
      this.#stdout += data;
    });
    this.#child.stderr?.on("data", (data) => {
      this.#stderr += data;
    });
    this.#ended = once(this.#child, "close").then(() => {
      this.#hasEnded = true;
    });
    t.teardown(() => this.kill());
  }

  get id(): number {
    return this.#child.pid ?? 0;
  }

  /** What it has printed on standard error. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Waits for a line of its output. */
  async says(line: string): Promise<void> {
    const isThere = (): boolean => this.#stdout.includes(`${line}\n`);
    await until(`"${line}"`, () => isThere() || this.#hasEnded);
    if (!isThere()) {
      throw new Error(`expected "${line}", found "${this.#stdout}${this.#stderr}"`);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Lets it release the lock, and end. */
  async finish(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
