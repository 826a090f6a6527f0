/** The schedule of the agent, its log and its state. */

import { inOneLine } from "../../cli/output/escape.ts";
import type { CompletedProcess, Service, ServiceStep } from "../../system/operator-system.ts";
import { isSystemError, type SystemError } from "../../system/system.ts";
import { type Answer, responseTo } from "./http.ts";
import { type Endpoint, HEALTH } from "./options.ts";
import type { Part } from "./part.ts";

/** What the service needs of its surroundings. */
export interface Surroundings {
  /** Wall-clock time, in milliseconds. */
  readonly now: () => number;
  /** Writes a line to the log. */
  readonly log: (message: string) => void;
}

/** A part, or the port, and how it went. */
interface Task {
  /** In the log and in `/healthz`. */
  readonly name: string;
  readonly step: Exclude<ServiceStep, { readonly kind: "wait" }>;
  /** From start to start, in milliseconds. */
  readonly interval: number;
  /** From a failure to the next start, in milliseconds. */
  readonly retry: number;
  readonly output: Part["output"];
  /** When it starts next, in milliseconds since the epoch. */
  due: number;
  result: "none" | "success" | "failure";
  /** What it printed on standard error, or why it failed, in the last run. */
  messages: readonly string[];
  /** What it printed on standard output in the last run, if that is served and it succeeded. */
  served: string | undefined;
}

/** This executable, even if the file was replaced or deleted. */
const SELF = "/proc/self/exe";

/** How long a command may take, in milliseconds. */
const TIMEOUT = 120_000;

/** A failed part starts again after this time, in milliseconds, unless its interval is shorter. */
const RETRY = 60_000;

/** The longest wait, in milliseconds, so that a change of the clock is noticed. */
const LONGEST_WAIT = 60_000;

/** The most lines of one run in the log, and the longest line. */
const MOST_LINES = 20;
const LONGEST_LINE = 500;

/** The service that opens the port and runs these parts, one at a time. */
export function serviceOf(
  parts: readonly Part[],
  endpoint: Endpoint | undefined,
  { now, log }: Surroundings,
): Service {
  const tasks = [
    ...(endpoint === undefined ? [] : [listener(endpoint, parts, now())]),
    ...parts.map((part) => taskOf(part, now())),
  ];
  let current: Task | undefined;
  const next = (): ServiceStep => {
    const time = now();
    // Further away than it can be: the clock was set back.
    for (const task of tasks) {
      const most = task.result === "failure" ? task.retry : task.interval;
      if (task.due - time > most) task.due = time;
    }
    const first = tasks.reduce((one, other) => (other.due < one.due ? other : one));
    if (first.due > time) {
      return { kind: "wait", milliseconds: Math.min(first.due - time, LONGEST_WAIT) };
    }
    current = first;
    first.due = time + first.interval;
    return first.step;
  };
  const completed: Service["completed"] = (outcome) => {
    if (current === undefined) return;
    record(current, outcome, log);
    if (current.result === "failure") current.due = Math.min(current.due, now() + current.retry);
    current = undefined;
  };
  const answer = (path: string): Answer => {
    if (path === HEALTH) return health(tasks);
    if (path !== endpoint?.path) return { status: 404, body: "not found\n" };
    const served = tasks.find(({ output }) => output === "served")?.served;
    return served === undefined
      ? { status: 503, body: `no metrics; see ${HEALTH}\n` }
      : { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body: served };
  };
  return { next, completed, respond: (request) => responseTo(request, answer) };
}

function taskOf({ name, words, interval, output }: Part, due: number): Task {
  return {
    name,
    step: {
      kind: "run",
      command: [SELF, ...words],
      timeout: TIMEOUT,
      isLogged: output === "log",
    },
    interval,
    retry: Math.min(RETRY, interval),
    output,
    due,
    result: "none",
    messages: [],
    served: undefined,
  };
}

/** Opens the port: once, but again and again as long as it fails, since another process may use it. */
function listener({ address, port }: Endpoint, parts: readonly Part[], due: number): Task {
  const { interval = RETRY } = parts.find(({ output }) => output === "served") ?? {};
  return {
    name: "http",
    step: { kind: "listen", address, port },
    interval: Number.POSITIVE_INFINITY,
    retry: Math.min(RETRY, interval),
    output: "ignored",
    due,
    result: "none",
    messages: [],
    served: undefined,
  };
}

/** Logs what is new: what changed, and messages other than those of the run before. */
function record(
  task: Task,
  outcome: Parameters<Service["completed"]>[0],
  log: Surroundings["log"],
): void {
  const { name, output, result: before, messages } = task;
  const result = outcome === "listening" ? NOTHING_NEW : examine(output, outcome);
  task.result = result.isFailed ? "failure" : "success";
  task.messages = result.messages;
  task.served = result.isFailed || output !== "served" ? undefined : result.stdout;
  const isNew = result.messages.join("\n") !== messages.join("\n");
  const lines = [
    ...result.changes,
    ...(isNew ? result.messages : []),
    ...(before === "failure" && !result.isFailed ? ["succeeded again"] : []),
  ];
  for (const line of lines) log(`${name}: ${line}`);
}

interface Result {
  readonly isFailed: boolean;
  readonly messages: readonly string[];
  readonly changes: readonly string[];
  readonly stdout: string;
}

const NOTHING_NEW: Result = { isFailed: false, messages: [], changes: [], stdout: "" };

function examine(output: Part["output"], outcome: CompletedProcess | SystemError): Result {
  const failure = (message: string): Result => ({
    isFailed: true,
    messages: [inOneLine(message)],
    changes: [],
    stdout: "",
  });
  if (isSystemError(outcome, "ETIMEDOUT")) {
    return failure(`took longer than ${TIMEOUT / 60_000} minutes, and was killed`);
  }
  if (isSystemError(outcome, "EFBIG")) return failure("printed too much for its result to be read");
  if (isSystemError(outcome)) return failure(outcome.message);
  const { exitCode, stdout, stderr } = outcome;
  const messages = linesOf(stderr);
  const isFailed = exitCode !== 0;
  try {
    return {
      isFailed,
      messages: isFailed && messages.length === 0 ? [`exit code ${exitCode}`] : messages,
      changes: typeof output === "function" && !(isFailed && stdout === "") ? output(stdout) : [],
      stdout,
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return failure(messages[0] ?? `unexpected output: ${error.message}`);
  }
}

/** The lines of a message, without the program's name, which the log has, and not too many of them. */
function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => inOneLine(line.replace(/^host-local: /, "").trim()).slice(0, LONGEST_LINE))
    .filter((line) => line !== "")
    .slice(0, MOST_LINES);
}

/** In the form of the Kubernetes components. */
function health(tasks: readonly Task[]): Answer {
  const isFailed = tasks.some(({ result }) => result === "failure");
  const lines = tasks.map(({ name, result, messages }) =>
    result === "failure"
      ? `[-]${name} failed: ${messages[0]}`
      : `[+]${name} ${result === "success" ? "ok" : "has not run yet"}`,
  );
  return {
    status: isFailed ? 503 : 200,
    body: `${lines.join("\n")}\nhealthz check ${isFailed ? "failed" : "passed"}\n`,
  };
}
