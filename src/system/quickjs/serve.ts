/** Serving on the C host: a loop that ends with the process. */

import type { Service, ServiceStep } from "../operator-system.ts";
import { isSystemError } from "../system.ts";
import { callHost } from "./quickjs-system.ts";

/** The functions of agent-host.c; each throws a `HostError` when its system call fails. */
interface AgentHost {
  listen(address: string, port: number): void;
  start(command: readonly string[], timeout: number): void;
  /** The text of a request when more of it has arrived; `undefined` after the time, or when the program has ended. */
  wait(milliseconds: number): string | undefined;
  answer(response: string): void;
  /**
   * `undefined` while the program runs; then, once, exit code, standard output (EFBIG above the limit) and the
   * beginning of standard error.
   */
  result(limit: number): readonly [number, string, string] | undefined;
}

declare const agentHost: AgentHost;

/** The longest output of a program, in bytes: `gc --json` with 65 000 reservations prints 28 MB. */
const LONGEST_OUTPUT = 64 * 1024 * 1024;

/** The wait for the end of a program, in milliseconds: the end interrupts it. */
const FOREVER = 3_600_000;

/** See `OperatorSystem`. */
export function serve(service: Service): never {
  if (service.listen !== undefined) {
    const { address, port } = service.listen;
    callHost(`${address}:${port}`, () => agentHost.listen(address, port));
  }
  for (;;) {
    const step = service.next();
    if (step.kind === "run") runProgram(service, step);
    else respondWhile(service, step.milliseconds);
  }
}

function runProgram(
  service: Service,
  { command, timeout }: Extract<ServiceStep, { readonly kind: "run" }>,
): void {
  const [program] = command;
  try {
    callHost(program, () => agentHost.start(command, timeout));
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
