/** Serving on the C host: a loop that ends with the process. */

import type { Service, ServiceStep } from "../operator-system.ts";
import { isSystemError } from "../system.ts";
import { callHost } from "./quickjs-system.ts";

/** The functions of agent-host.c; each throws a `HostError` when its system call fails. */
interface AgentHost {
  listen(address: string, port: number): void;
  start(command: readonly string[], timeout: number, isLogged: boolean): void;
  /** The text of a request when more of it has arrived; `undefined` after the time, or when the program has ended. */
  wait(milliseconds: number): string | undefined;
  /** Answers that request. */
  answer(response: string): void;
  /**
   * `undefined` while the program runs; then, once, exit code, standard output (EFBIG above the limit) and the
   * beginning of standard error.
   */
  result(limit: number): readonly [number, string, string] | undefined;
}

declare const agentHost: AgentHost;

/** The longest output of a program, in bytes: metrics of a network are 4 KB. */
const LONGEST_OUTPUT = 4 * 1024 * 1024;

/** The wait for the end of a program, in milliseconds: the end interrupts it. */
const FOREVER = 3_600_000;

/** See `OperatorSystem`. */
export function serve(service: Service): never {
  for (;;) {
    const step = service.next();
    if (step.kind === "run") runProgram(service, step);
    else if (step.kind === "listen") listen(service, step);
    else respondWhile(service, step.milliseconds);
  }
}

function listen(
  service: Service,
  { address, port }: Extract<ServiceStep, { readonly kind: "listen" }>,
): void {
  try {
    callHost(`${address}:${port}`, () => agentHost.listen(address, port));
    service.completed("listening");
  } catch (error) {
    if (!isSystemError(error)) throw error;
    service.completed(error);
  }
}

function runProgram(
  service: Service,
  { command, timeout, isLogged }: Extract<ServiceStep, { readonly kind: "run" }>,
): void {
  const [program] = command;
  try {
    callHost(program, () => agentHost.start(command, timeout, isLogged));
    for (;;) {
      respondWhile(service, FOREVER);
      const result = callHost(program, () => agentHost.result(LONGEST_OUTPUT));
      if (result === undefined) continue;
      const [exitCode, stdout, stderr] = result;
      service.completed({ exitCode, stdout, stderr });
      return;
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    service.completed(error);
  }
}

/** Waits, and passes on what connections send meanwhile; it may return early. */
function respondWhile(service: Service, milliseconds: number): void {
  const request = agentHost.wait(milliseconds);
  const response = request === undefined ? undefined : service.respond(request);
  if (response !== undefined) agentHost.answer(response);
}
