/** Serving on Node.js, from its event loop. */

import { type ChildProcess, spawn } from "node:child_process";
import net from "node:net";
import os from "node:os";
import type { CompletedProcess, Service, ServiceStep } from "../operator-system.ts";
import { SystemError } from "../system.ts";
import { killGroup } from "./kill-group.ts";
import { errnoOf } from "./system-call.ts";

/** The longest output of a program, in characters: metrics of a network are 4 KB. */
const LONGEST_OUTPUT = 4 * 1024 * 1024;

/** How long a connection may take, in milliseconds. */
const CONNECTION_TIME = 5000;

/** The most connections at a time. */
const MOST_CONNECTIONS = 8;

const STDERR = 2;

/** The open connections, the oldest first. */
const connections = new Set<net.Socket>();

/** The program that runs. */
let running: ChildProcess | undefined;

/** See `OperatorSystem`. */
export function serve(service: Service): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (running?.pid !== undefined) killGroup(running.pid);
      process.exit(0);
    });
  }
  goOn(service);
}

function listen(
  service: Service,
  { address, port }: Extract<ServiceStep, { readonly kind: "listen" }>,
  completed: (outcome: "listening" | SystemError) => void,
): void {
  const server = net.createServer((connection) => serveConnection(service, connection));
  // An error after it has begun to listen is one of a single connection.
  server.on("error", (error) => {
    if (!server.listening) {
      completed(new SystemError("listen", `${address}:${port}`, errnoOf(error)));
    }
  });
  server.listen({ host: address, port, ipv6Only: false }, () => completed("listening"));
}

function serveConnection(service: Service, connection: net.Socket): void {
  let request = "";
  const timer = setTimeout(() => connection.destroy(), CONNECTION_TIME);
  // Clients that send nothing must keep no other one waiting.
  const [oldest] = connections;
  if (oldest !== undefined && connections.size === MOST_CONNECTIONS) {
    connections.delete(oldest);
    oldest.destroy();
  }
  connections.add(connection);
  connection.setEncoding("latin1");
  connection.on("close", () => {
    clearTimeout(timer);
    connections.delete(connection);
  });
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
  const completed = (outcome: Parameters<Service["completed"]>[1]): void => {
    service.completed(step, outcome);
    goOn(service);
  };
  if (step.kind === "wait") setTimeout(goOn, step.milliseconds, service);
  else if (step.kind === "listen") listen(service, step, completed);
  else runProgram(step, completed);
}

function runProgram(
  {
    command: [program, ...words],
    timeout,
    isLogged,
  }: Extract<ServiceStep, { readonly kind: "run" }>,
  completed: (outcome: CompletedProcess | SystemError) => void,
): void {
  // A process group of its own lets it be killed with its children.
  const started = spawn(program, words, {
    stdio: ["ignore", isLogged ? STDERR : "pipe", STDERR],
    detached: true,
  });
  let failure: SystemError | undefined;
  let stdout = "";
  running = started;
  started.stdout?.setEncoding("utf8").on("data", (chunk) => {
    if (stdout.length <= LONGEST_OUTPUT) stdout += chunk;
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
    running = undefined;
    if (stdout.length > LONGEST_OUTPUT) failure ??= new SystemError("read", program, "EFBIG");
    const exitCode = status ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
    completed(failure ?? { exitCode, stdout, stderr: "" });
  });
}
