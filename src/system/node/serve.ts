/** Serving on Node.js, from its event loop. */

import { type ChildProcess, spawn } from "node:child_process";
import net from "node:net";
import os from "node:os";
import type { CompletedProcess, Service, ServiceStep } from "../operator-system.ts";
import { SystemError } from "../system.ts";
import { killGroup } from "./kill-group.ts";
import { errnoOf } from "./system-call.ts";

/** The longest output of a program, in characters: `gc --json` with 65 000 reservations prints 28 MB. */
const LONGEST_OUTPUT = 64 * 1024 * 1024;

/** How much of its errors is taken, in characters: the log has only some lines of them. */
const LONGEST_ERRORS = 64 * 1024;

/** How long a connection may take, in milliseconds. */
const CONNECTION_TIME = 5000;

/** The exit code of a command that failed. */
const COMMAND_ERROR = 2;

/** The program that runs. */
let child: ChildProcess | undefined;

/** See `OperatorSystem`. */
export function serve(service: Service): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (child?.pid !== undefined) killGroup(child.pid);
      process.exit(0);
    });
  }
  if (service.listen === undefined) goOn(service);
  else listen(service, service.listen);
}

function listen(service: Service, { address, port }: { address: string; port: number }): void {
  const server = net.createServer((connection) => serveConnection(service, connection));
  server.on("error", (error) => {
    const { message } = new SystemError("listen", `${address}:${port}`, errnoOf(error));
    process.stderr.write(`host-local: ${message}\n`);
    process.exit(COMMAND_ERROR);
  });
  server.listen({ host: address, port, ipv6Only: false }, () => goOn(service));
}

function serveConnection(service: Service, connection: net.Socket): void {
  let request = "";
  const timer = setTimeout(() => connection.destroy(), CONNECTION_TIME);
  connection.setEncoding("latin1");
  connection.on("close", () => clearTimeout(timer));
  connection.on("error", () => connection.destroy());
  connection.on("data", (chunk) => {
    if (connection.writableEnded) return;
    request += chunk;
    const response = service.respond(request);
    if (response !== undefined) connection.end(response);
  });
}

function goOn(service: Service): void {
  const step = service.next();
  if (step.kind === "wait") setTimeout(goOn, step.milliseconds, service);
  else {
    runProgram(step, (outcome) => {
      service.completed(outcome);
      goOn(service);
    });
  }
}

function runProgram(
  { command: [program, ...words], timeout }: Extract<ServiceStep, { readonly kind: "run" }>,
  completed: (outcome: CompletedProcess | SystemError) => void,
): void {
  // In a process group of its own, and so killed with its children.
  const started = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let failure: SystemError | undefined;
  let [stdout, stderr] = ["", ""];
  child = started;
  started.stdout.setEncoding("utf8").on("data", (chunk) => {
    if (stdout.length <= LONGEST_OUTPUT) stdout += chunk;
  });
  started.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr = `${stderr}${chunk}`.slice(0, LONGEST_ERRORS);
  });
  const timer = setTimeout(() => {
    failure = new SystemError("exec", program, "ETIMEDOUT");
    if (started.pid !== undefined) killGroup(started.pid);
  }, timeout);
  started.on("error", (error) => {
    failure = new SystemError("exec", program, errnoOf(error));
  });
  started.on("close", (status, signal) => {
    clearTimeout(timer);
    child = undefined;
    if (stdout.length > LONGEST_OUTPUT) failure ??= new SystemError("read", program, "EFBIG");
    const exitCode = status ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
    completed(failure ?? { exitCode, stdout, stderr });
  });
}
