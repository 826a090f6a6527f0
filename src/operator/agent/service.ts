/** The schedule of the agent, and its state. */

import { inOneLine } from "../../cli/output/escape.ts";
import type { CompletedProcess, Service, ServiceStep } from "../../system/operator-system.ts";
import { isSystemError, type SystemError } from "../../system/system.ts";
import { type Endpoint, HEALTH, METRICS } from "./endpoint.ts";
import { type Answer, responseTo } from "./http.ts";
import type { AgentTask } from "./task.ts";

/** What the service needs of its surroundings. */
interface Surroundings {
  /** The time of a clock that nobody sets, in milliseconds. */
  readonly now: () => number;
  /** Writes a line to the log. */
  readonly log: (message: string) => void;
}

/** A task, or the opening of the port, and how it went. */
interface Job {
  /** The task's name in the log and in `/healthz`. */
  readonly name: string;
  readonly step: Exclude<ServiceStep, { readonly kind: "wait" }>;
  /** The time from start to start, in milliseconds. */
  readonly interval: number;
  /** When it starts next, by that clock. */
  due: number;
  /** The result of the last run; `undefined` before the first. */
  result: Result | undefined;
}

interface Result {
  /** Why it failed; `undefined` if it succeeded. */
  readonly failure: string | undefined;
  /** What it printed on standard output; empty if that went to the log. */
  readonly stdout: string;
}

/** This executable, even if the file was replaced or deleted. */
const SELF = "/proc/self/exe";

/** How long a command may take, in milliseconds. */
const TIMEOUT = 120_000;

/** The time after which a failed step is tried again, in milliseconds, unless the shortest interval is less. */
const RETRY = 60_000;

/** The longest wait, in milliseconds: a timer has a limit. */
const LONGEST_WAIT = 60_000;

/** The service that opens the port and runs these tasks, one at a time. */
export function serviceOf(
  tasks: readonly AgentTask[],
  endpoint: Endpoint | undefined,
  { now, log }: Surroundings,
): Service {
  const start = now();
  const retry = Math.min(RETRY, ...tasks.map(({ interval }) => interval));
  const jobs = [
    ...(endpoint === undefined ? [] : [listening(endpoint, start)]),
    ...tasks.map((task) => running(task, start)),
  ];
  const served = jobs.find(({ step }) => step.kind === "run" && !step.isLogged);
  const next = (): ServiceStep => {
    const time = now();
    const [first] = jobs.toSorted((a, b) => a.due - b.due);
    if (first === undefined || first.due > time) {
      const delay = first === undefined ? LONGEST_WAIT : first.due - time;
      return { kind: "wait", milliseconds: Math.min(delay, LONGEST_WAIT) };
    }
    first.due = time + first.interval;
    return first.step;
  };
  const completed: Service["completed"] = (step, outcome) => {
    const job = jobs.find((candidate) => candidate.step === step);
    if (job === undefined) return;
    const before = job.result?.failure;
    job.result = resultOf(outcome);
    const { failure } = job.result;
    if (failure !== undefined) job.due = Math.min(job.due, now() + retry);
    if (failure === before) return;
    log(`${job.name}: ${failure === undefined ? "succeeded again" : `failed: ${failure}`}`);
  };
  const answer = (path: string): Answer => {
    if (path === HEALTH) return health(jobs);
    if (path !== METRICS) return { status: 404, body: "not found\n" };
    const { result } = served ?? {};
    return result === undefined || result.failure !== undefined
      ? { status: 503, body: `no metrics; see ${HEALTH}\n` }
      : { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body: result.stdout };
  };
  return { next, completed, respond: (request) => responseTo(request, answer) };
}

function running({ name, words, interval, isServed }: AgentTask, due: number): Job {
  return {
    name,
    step: { kind: "run", command: [SELF, ...words], timeout: TIMEOUT, isLogged: !isServed },
    interval,
    due,
    result: undefined,
  };
}

/** Opens the port, before anything else: once, but again as long as it fails, since another process may use it. */
function listening({ address, port }: Endpoint, start: number): Job {
  return {
    name: "http",
    step: { kind: "listen", address, port },
    interval: Number.POSITIVE_INFINITY,
    due: start - 1,
    result: undefined,
  };
}

function resultOf(outcome: CompletedProcess | "listening" | SystemError): Result {
  if (outcome === "listening") return { failure: undefined, stdout: "" };
  if (isSystemError(outcome)) return { failure: inOneLine(reasonOf(outcome)), stdout: "" };
  const { exitCode, stdout } = outcome;
  return { failure: exitCode === 0 ? undefined : `exit code ${exitCode}`, stdout };
}

function reasonOf({ code, message }: SystemError): string {
  if (code === "ETIMEDOUT") return `took longer than ${TIMEOUT / 60_000} minutes, and was killed`;
  return code === "EFBIG" ? "printed too much for its result to be read" : message;
}

/** What `/healthz` answers, in the form of the Kubernetes components. A task that has not run yet has not passed. */
function health(jobs: readonly Job[]): Answer {
  const isPassed = jobs.every(({ result }) => result !== undefined && result.failure === undefined);
  const lines = jobs.map(({ name, result }) => {
    if (result === undefined) return `[-]${name} has not run yet`;
    return result.failure === undefined ? `[+]${name} ok` : `[-]${name} failed: ${result.failure}`;
  });
  return {
    status: isPassed ? 200 : 503,
    body: `${lines.join("\n")}\nhealthz check ${isPassed ? "passed" : "failed"}\n`,
  };
}
