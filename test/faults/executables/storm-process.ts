/** One call of a storm, which may be killed at a random moment. */

import { spawn } from "node:child_process";
import { grantedAddresses } from "../../blackbox/network.ts";
import type { Call } from "../../harness/executable.ts";
import type { Random } from "../../harness/random.ts";
import type { Operation } from "./storm-log.ts";
import type { Subject } from "./subject.ts";

/** No call takes this long, in milliseconds: the lock's time-out is over before. */
const LONGEST_CALL = 100_000;

/** What a call is, before it is made. */
export type Plan = Pick<Operation, "network" | "verb" | "attachment" | "valid"> & {
  readonly call: Call;
};

/** While fewer have been killed than ought to be, the percentage of calls that are tried: most of them are faster. */
const PERCENT_TRIED = 25;

/** Starts calls, and kills some of them. */
export class StormProcesses {
  readonly #random: Random;
  readonly #percentKilled: number;
  #started = 0;
  #killed = 0;
  #under: readonly string[] = [];
  /** Kills a call that runs. */
  readonly #running = new Set<() => void>();
  /** How long the calls of each program take at the moment, in milliseconds: on a busy machine much longer. */
  readonly #usual = new Map<string, number>();

  constructor(random: Random, percentKilled: number) {
    this.#random = random;
    this.#percentKilled = percentKilled;
  }

  /** What runs the executables from now on, with its options; it must become the executable, by exec. */
  enter(under: readonly string[]): void {
    this.#under = under;
  }

  /** Kills all calls that run. */
  killAll(): void {
    for (const kill of this.#running) kill();
  }

  /** Makes one call to its end. */
  async run({ name, path }: Subject, { call, ...plan }: Plan): Promise<Operation> {
    const start = performance.now();
    const outcome = await this.#runKilled(
      [...this.#under, path],
      call,
      this.#isDoomed() ? this.#moment(name) : undefined,
    );
    const end = performance.now();
    if (outcome.answer === "killed") this.#killed++;
    if (outcome.answer === "done" || outcome.answer === "refused") {
      const usual = this.#usual.get(name) ?? end - start;
      this.#usual.set(name, usual + (end - start - usual) / 8);
    }
    const addresses =
      plan.verb === "ADD" && outcome.answer !== "refused" ? granted(outcome.stdout) : [];
    const text = outcome.stdout || outcome.stderr;
    return { ...plan, program: name, start, end, answer: outcome.answer, addresses, text };
  }

  #isDoomed(): boolean {
    const isDue = this.#killed * 100 < this.#started++ * this.#percentKilled;
    return isDue && this.#random.chance(PERCENT_TRIED);
  }

  /** Some moment within the life of a call, in milliseconds after its start: as often early as late. */
  #moment(program: string): number {
    const usual = this.#usual.get(program) ?? 20;
    return this.#random.integer(1 + Math.ceil(usual / 2 ** this.#random.integer(7)));
  }

  #runKilled(
    [program = "", ...options]: readonly string[],
    { environment, stdin }: Call,
    after: number | undefined,
  ): Promise<KilledOutcome> {
    return new Promise((settle, fail) => {
      const child = spawn(program, options, { env: { ...environment } });
      let ending: "killed" | "hung" | undefined;
      const end = (how: "killed" | "hung"): void => {
        ending = how;
        child.kill("SIGKILL");
      };
      const kill = (): void => end("killed");
      this.#running.add(kill);
      const killer = after === undefined ? undefined : setTimeout(kill, after);
      const watch = setTimeout(end, LONGEST_CALL, "hung");
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk: Buffer) => {
        stdout += chunk.toString("utf8");
      });
      child.stderr.on("data", (chunk: Buffer) => {
        stderr += chunk.toString("utf8");
      });
      // One that is killed does not read its input.
      child.stdin.on("error", () => {});
      child.on("error", fail);
      child.on("close", (exitCode, signal) => {
        this.#running.delete(kill);
        clearTimeout(killer);
        clearTimeout(watch);
        const isKilled = signal === "SIGKILL" && ending !== undefined;
        settle({ answer: isKilled ? (ending ?? "killed") : answerOf(exitCode), stdout, stderr });
      });
      child.stdin.end(stdin);
    });
  }
}

interface KilledOutcome {
  readonly answer: Operation["answer"];
  readonly stdout: string;
  readonly stderr: string;
}

function answerOf(exitCode: number | null): Operation["answer"] {
  if (exitCode === 0) return "done";
  return exitCode === 1 ? "refused" : "crashed";
}

/** The addresses of a result; none where it was cut off. */
function granted(stdout: string): readonly string[] {
  try {
    return grantedAddresses({ exitCode: 0, stdout, stderr: "" });
  } catch {
    return [];
  }
}
