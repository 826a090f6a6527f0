/** The schedule of the agent, by a clock that the test sets; what programs print beside metrics is not its business. */

import { test } from "tap";
import { serviceOf } from "../../../src/operator/agent/service.ts";
import type { AgentTask } from "../../../src/operator/agent/task.ts";
import type { CompletedProcess, Service } from "../../../src/system/operator-system.ts";
import { SystemError } from "../../../src/system/system.ts";

const MINUTE = 60_000;

const success: CompletedProcess = { exitCode: 0, stdout: "", stderr: "" };

function task(name: string, interval: number, isServed = false): AgentTask {
  return { name, words: [name], interval, isServed };
}

const endpoint = { address: "127.0.0.1", port: 9464 };

/** What a task does; its name is its first word. */
type Behaviour = (name: string, run: number) => CompletedProcess | SystemError;

/** A service, its surroundings and its driver. */
class Simulation {
  time = 1_700_000_000_000;
  readonly logged: string[] = [];
  /** The minute of each run. */
  readonly runs: Record<string, readonly number[]> = {};
  readonly service: Service;
  /** The minute of each attempt to listen. */
  readonly attempts: number[] = [];
  /** Whether another process uses the port. */
  isPortInUse = false;
  /** How long commands take, in minutes, by their names; those that are not there take no time. */
  durations: Readonly<Record<string, number>> = {};
  private readonly start = this.time;
  private readonly behave: Behaviour;

  constructor(tasks: readonly AgentTask[], behave: Behaviour = () => success, listen = false) {
    this.behave = behave;
    this.service = serviceOf(tasks, listen ? endpoint : undefined, {
      now: () => this.time,
      log: (message) => this.logged.push(message),
    });
  }

  /** Drives the service for some minutes. */
  pass(minutes: number): void {
    for (const end = this.time + minutes * MINUTE; this.time <= end; ) {
      const step = this.service.next();
      if (step.kind === "run") {
        const [, name = ""] = step.command;
        const runs = [...(this.runs[name] ?? []), (this.time - this.start) / MINUTE];
        this.runs[name] = runs;
        this.time += (this.durations[name] ?? 0) * MINUTE;
        this.service.completed(step, this.behave(name, runs.length));
      } else if (step.kind === "listen") {
        this.attempts.push((this.time - this.start) / MINUTE);
        const inUse = new SystemError("listen", `${step.address}:${step.port}`, "EADDRINUSE");
        this.service.completed(step, this.isPortInUse ? inUse : "listening");
      } else if (this.time + step.milliseconds > end) {
        this.time = end;
        return;
      } else {
        this.time += step.milliseconds;
      }
    }
  }

  get(path: string): string {
    return this.service.respond(`GET ${path} HTTP/1.1\r\nHost: node\r\n\r\n`) ?? "";
  }
}

test("each task runs at the start, and then at its interval", async (t) => {
  const simulation = new Simulation([task("gc", 15 * MINUTE), task("metrics", MINUTE)]);

  simulation.pass(60);

  t.same(simulation.runs.gc, [0, 15, 30, 45, 60]);
  t.same(
    simulation.runs.metrics,
    Array.from({ length: 61 }, (_, minute) => minute),
  );
  t.same(simulation.logged, []);
});

test("a task that fails starts again after a minute, is logged once, and stops no other one", async (t) => {
  const codes = [2, 2, 1, 0];
  const broken: Behaviour = (name, run) =>
    name === "gc" ? { ...success, exitCode: codes[run - 1] ?? 0 } : success;
  const simulation = new Simulation([task("gc", 15 * MINUTE), task("metrics", MINUTE)], broken);

  simulation.pass(20);

  t.same(simulation.runs.gc, [0, 1, 2, 3, 18]);
  t.equal(simulation.runs.metrics?.length, 21);
  t.same(simulation.logged, [
    "gc: failed: exit code 2",
    "gc: failed: exit code 1",
    "gc: succeeded again",
  ]);
});

test("a task that hangs starts again after a minute, too, in which the others run", async (t) => {
  const simulation = new Simulation(
    [task("gc", 15 * MINUTE), task("install", MINUTE), task("metrics", MINUTE, true)],
    (name) => (name === "gc" ? new SystemError("exec", "gc", "ETIMEDOUT") : success),
    true,
  );
  simulation.durations = { gc: 2 };

  simulation.pass(9);

  t.same(simulation.runs, {
    gc: [0, 3, 6, 9],
    install: [2, 5, 8],
    metrics: [2, 5, 8],
  });
  t.match(simulation.get("/metrics"), /^HTTP\/1.1 200 /, "those of the last run");
  t.match(simulation.get("/healthz"), /^HTTP\/1.1 503 [\s\S]*\[-\]gc failed: took longer/);
  t.same(simulation.logged, ["gc: failed: took longer than 2 minutes, and was killed"]);
});

test("what fails starts again after the shortest interval, if that is less than a minute", async (t) => {
  const broken: Behaviour = (name) => (name === "gc" ? { ...success, exitCode: 1 } : success);
  const simulation = new Simulation([task("gc", 15 * MINUTE), task("metrics", MINUTE / 2)], broken);

  simulation.pass(2);

  t.same(simulation.runs.gc, [0, 0.5, 1, 1.5, 2]);
});

test("the port is opened first, and once", async (t) => {
  const simulation = new Simulation([task("metrics", MINUTE)], undefined, true);

  const step = simulation.service.next();
  t.strictSame(step, { kind: "listen", address: "127.0.0.1", port: 9464 });
  simulation.service.completed(step, "listening");
  simulation.pass(3);

  t.same(simulation.attempts, []);
  t.match(simulation.get("/healthz"), /\n\[\+\]http ok\n/);
});

test("a port in use is tried again after a minute, and stops no task", async (t) => {
  const simulation = new Simulation([task("gc", 15 * MINUTE)], undefined, true);
  simulation.isPortInUse = true;

  simulation.pass(2);
  const [, reason] = /^\[-\]http failed: (.*)$/m.exec(simulation.get("/healthz")) ?? [];
  simulation.isPortInUse = false;
  simulation.pass(30);

  t.equal(reason, "listen 127.0.0.1:9464: address already in use");
  t.same(simulation.attempts, [0, 1, 2, 3]);
  t.same(simulation.runs.gc, [0, 15, 30]);
  t.same(simulation.logged, [`http: failed: ${reason}`, "http: succeeded again"]);
});

test("/healthz names what fails, and why", async (t) => {
  const simulation = new Simulation([task("gc", MINUTE), task("metrics", MINUTE)], (name, run) =>
    name === "gc" && run === 1 ? { ...success, exitCode: 1 } : success,
  );

  t.match(
    simulation.get("/healthz"),
    /^HTTP\/1.1 503 Service Unavailable\r\n[\s\S]*\r\n\r\n\[-\]gc has not run yet\n\[-\]metrics has not run yet\nhealthz check failed\n$/,
  );
  simulation.pass(0);
  t.match(
    simulation.get("/healthz"),
    /^HTTP\/1.1 503 Service Unavailable\r\n[\s\S]*\r\n\r\n\[-\]gc failed: exit code 1\n\[\+\]metrics ok\nhealthz check failed\n$/,
  );
  simulation.pass(1);
  t.match(simulation.get("/healthz"), /^HTTP\/1.1 200 [\s\S]*\n\[\+\]gc ok\n/);
});

for (const [what, outcome, message] of [
  [
    "takes too long",
    new SystemError("exec", "x", "ETIMEDOUT"),
    "took longer than 2 minutes, and was killed",
  ],
  [
    "prints too much",
    new SystemError("read", "x", "EFBIG"),
    "printed too much for its result to be read",
  ],
  ["cannot be started", new SystemError("exec", "x", "ENOMEM"), "exec x: ENOMEM"],
] as const) {
  test(`a task that ${what} has failed`, async (t) => {
    const simulation = new Simulation([task("gc", MINUTE)], () => outcome);

    simulation.pass(0);

    const [, reason] = /^\[-\]gc failed: (.*)$/m.exec(simulation.get("/healthz")) ?? [];
    t.match(reason, message);
    t.same(simulation.logged, [`gc: failed: ${reason}`]);
  });
}

test("what a task prints goes to the log itself, unless it is served", async (t) => {
  const simulation = new Simulation([task("gc", MINUTE), task("metrics", MINUTE, true)]);

  for (const isLogged of [true, false]) {
    const step = simulation.service.next();
    t.match(step, { kind: "run", isLogged });
    simulation.service.completed(step, success);
  }
});

test("the metrics of the last run are served, unless it failed", async (t) => {
  const behave: Behaviour = (_, run) =>
    run === 2
      ? { ...success, exitCode: 2, stdout: "half" }
      : { ...success, stdout: `run ${run}\n` };
  const simulation = new Simulation([task("metrics", MINUTE, true)], behave, true);

  t.match(simulation.get("/metrics"), /^HTTP\/1.1 503 /);
  simulation.pass(0);
  t.match(
    simulation.get("/metrics"),
    /^HTTP\/1.1 200 OK\r\nContent-Type: text\/plain; version=0\.0\.4; charset=utf-8\r\n[\s\S]*\r\n\r\nrun 1\n$/,
  );
  simulation.pass(1);
  t.match(simulation.get("/metrics"), /^HTTP\/1.1 503 /);
  simulation.pass(1);
  t.match(simulation.get("/metrics"), /\r\n\r\nrun 3\n$/);
});

test("without a task whose output is served there are no metrics", async (t) => {
  const simulation = new Simulation([task("gc", MINUTE)], undefined, true);

  simulation.pass(1);

  t.match(simulation.get("/metrics"), /^HTTP\/1.1 503 [\s\S]*no metrics; see \/healthz\n$/);
  t.match(simulation.get("/healthz"), /^HTTP\/1.1 200 /);
});

test("after a pause missed runs are not made up for", async (t) => {
  const simulation = new Simulation([task("metrics", MINUTE)]);
  simulation.pass(2);

  simulation.time += 3_600_000;
  simulation.pass(2);

  t.equal(simulation.runs.metrics?.length, 6);
});
