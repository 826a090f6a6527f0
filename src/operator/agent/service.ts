/** The schedule of the agent, its log and its state. */

import { inOneLine } from "../../cli/output/escape.ts";
import type {
  CompletedProcess,
  ProgramPlace,
  Service,
  ServiceStep,
} from "../../system/operator-system.ts";
import { isSystemError, type SystemError } from "../../system/system.ts";
import { type Endpoint, HEALTH } from "./endpoint.ts";
import { type Answer, responseTo } from "./http.ts";
import type { Task } from "./task.ts";

/** What the service needs of its surroundings. */
interface Surroundings {
  /** The time of a clock that nobody sets, in milliseconds. */
  readonly now: () => number;
  /** Writes a line to the log. */
  readonly log: (message: string) => void;
}

/** A task, or the opening of the port, and how it went. */
interface Job {
  /** In the log and in `/healthz`. */
  readonly name: string;
  readonly step: Exclude<ServiceStep, { readonly kind: "wait" }>;
  /** From start to start, in milliseconds. */
  readonly interval: number;
  /** From a failure to the next start, in milliseconds. */
  readonly retry: number;
  /** When it starts next, by that clock. */
  due: number;
  /** Of the last run; `undefined` before the first. */
  result: Result | undefined;
}

interface Result {
  readonly isFailed: boolean;
  /** Whether it was killed because it took too long: it would only do so again. */
  readonly isHung: boolean;
  /** What it printed on standard error, or why it failed. */
  readonly messages: readonly string[];
  /** What it printed on standard output; empty if that went to the log. */
  readonly stdout: string;
}

/** This executable, even if the file was replaced or deleted. */
const SELF = "/proc/self/exe";

/** How long a command may take, in milliseconds. */
const TIMEOUT = 120_000;

/** A failed task starts again after this time, in milliseconds, unless its interval is shorter. */
const RETRY = 60_000;

/** The longest wait, in milliseconds: a timer has a limit. */
const LONGEST_WAIT = 60_000;

/** The most lines of one run in the log, and the longest line. */
const MOST_LINES = 20;
const LONGEST_LINE = 500;

/** The service that opens the port and runs these tasks, one at a time, but the one that is served beside the others. */
export function serviceOf(
  tasks: readonly Task[],
  endpoint: Endpoint | undefined,
  { now, log }: Surroundings,
): Service {
  const start = now();
  const jobs = [
    ...(endpoint === undefined ? [] : [listening(endpoint, tasks, start)]),
    ...tasks.map((task) => running(task, start)),
  ];
  const served = jobs.find(({ step }) => step.kind === "run" && !step.isLogged);
  const busy = new Set<Job>();
  const next = (): ServiceStep => {
    const time = now();
    const [first] = jobs.filter((job) => !isBehind(job, busy)).sort((a, b) => a.due - b.due);
    if (first === undefined || first.due > time) {
      const delay = first === undefined ? LONGEST_WAIT : first.due - time;
      return { kind: "wait", milliseconds: Math.min(delay, LONGEST_WAIT) };
    }
    busy.add(first);
    first.due = time + first.interval;
    return first.step;
  };
  const completed: Service["completed"] = (step, outcome) => {
    const job = jobs.find((one) => one.step === step);
    if (job === undefined) return;
    const { name, result: before } = job;
    const result = resultOf(outcome);
    for (const line of newsIn(result, before)) log(`${name}: ${line}`);
    job.result = result;
    job.due = Math.min(job.due, now() + delayAfter(job));
    busy.delete(job);
  };
  const answer = (path: string): Answer => {
    if (path === HEALTH) return health(jobs);
    if (path !== endpoint?.path) return { status: 404, body: "not found\n" };
    const { isFailed = true, stdout = "" } = served?.result ?? {};
    return isFailed
      ? { status: 503, body: `no metrics; see ${HEALTH}\n` }
      : { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body: stdout };
  };
  return { next, completed, respond: (request) => responseTo(request, answer) };
}

/** Whether another one, or its own last run, has its place. */
function isBehind(job: Job, busy: ReadonlySet<Job>): boolean {
  return [...busy].some((one) => placeOf(one) === placeOf(job));
}

function placeOf({ step }: Job): ProgramPlace | undefined {
  return step.kind === "run" ? step.place : undefined;
}

/** How long after the last run the next one starts at most. */
function delayAfter({ result, retry, interval }: Job): number {
  return result?.isFailed && !result.isHung ? retry : interval;
}

function running({ name, words, interval, isServed }: Task, due: number): Job {
  return {
    name,
    step: {
      kind: "run",
      command: [SELF, ...words],
      timeout: TIMEOUT,
      isLogged: !isServed,
      // Metrics go on while another task hangs.
      place: isServed ? 1 : 0,
    },
    interval,
    retry: Math.min(RETRY, interval),
    due,
    result: undefined,
  };
}

/** Opens the port: once, but again and again as long as it fails, since another process may use it. */
function listening({ address, port }: Endpoint, tasks: readonly Task[], due: number): Job {
  return {
    name: "http",
    step: { kind: "listen", address, port },
    interval: Number.POSITIVE_INFINITY,
    retry: Math.min(RETRY, ...tasks.map(({ interval }) => interval)),
    due: due - 1,
    result: undefined,
  };
}

/** What is new for the log: messages other than those of the run before, and that it succeeded again. */
function newsIn({ messages, isFailed }: Result, before: Result | undefined): readonly string[] {
  const isNew = messages.join("\n") !== (before?.messages ?? []).join("\n");
  return [
    ...(isNew ? messages : []),
    ...(before?.isFailed && !isFailed ? ["succeeded again"] : []),
  ];
}

function resultOf(outcome: CompletedProcess | "listening" | SystemError): Result {
  if (isSystemError(outcome)) {
    const isHung = outcome.code === "ETIMEDOUT";
    return { isFailed: true, isHung, messages: [inOneLine(reasonOf(outcome))], stdout: "" };
  }
  const { exitCode, stdout, stderr } = outcome === "listening" ? SUCCESS : outcome;
  const messages = linesOf(stderr);
  const isFailed = exitCode !== 0;
  if (isFailed && messages.length === 0) messages.push(`exit code ${exitCode}`);
  return { isFailed, isHung: false, messages, stdout };
}

const SUCCESS: CompletedProcess = { exitCode: 0, stdout: "", stderr: "" };

function reasonOf({ code, message }: SystemError): string {
  if (code === "ETIMEDOUT") return `took longer than ${TIMEOUT / 60_000} minutes, and was killed`;
  return code === "EFBIG" ? "printed too much for its result to be read" : message;
}

/** The lines of a message, without the program's name, which the log has, and not too many of them. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => inOneLine(line.replace(/^host-local: /, "").trim()).slice(0, LONGEST_LINE))
    .filter((line) => line !== "")
    .slice(0, MOST_LINES);
}

/** In the form of the Kubernetes components. What has not run yet has not passed. */
function health(jobs: readonly Job[]): Answer {
  const isPassed = jobs.every(({ result }) => result !== undefined && !result.isFailed);
  const lines = jobs.map(({ name, result }) => {
    if (result === undefined) return `[-]${name} has not run yet`;
    return result.isFailed ? `[-]${name} failed: ${result.messages[0]}` : `[+]${name} ok`;
  });
  return {
    status: isPassed ? 200 : 503,
    body: `${lines.join("\n")}\nhealthz check ${isPassed ? "passed" : "failed"}\n`,
  };
}
