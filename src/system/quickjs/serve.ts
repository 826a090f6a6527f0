/** Serving on the C host: a loop that ends with the process. */

import type { CompletedProcess, Service, ServiceStep } from "../operator-system.ts";
import { itself, recover, type SystemError } from "../system.ts";
import { wordsOf } from "./host.ts";

/** The longest output of a program, in bytes: metrics of a network are 4 KB. */
const LONGEST_OUTPUT = 4 * 1024 * 1024;

/** The longest wait, in milliseconds. */
const LONGEST_WAIT = 60_000;

/** See `OperatorSystem`. */
export function serve(service: Service): never {
  host.endOnSignals();
  for (;;) {
    const step = service.next();
    if (step.kind === "wait") respondWhile(service, step.milliseconds);
    else service.completed(step, step.kind === "run" ? run(service, step) : listen(step));
  }
}

function listen({
  address,
  port,
}: Extract<ServiceStep, { readonly kind: "listen" }>): "listening" | SystemError {
  return recover((): "listening" => {
    host.listen(`${address}:${port}`, address, port);
    return "listening";
  }, itself);
}

/** Runs a program, and passes on what connections send meanwhile. */
function run(
  service: Service,
  { command, timeout, isLogged }: Extract<ServiceStep, { readonly kind: "run" }>,
): CompletedProcess | SystemError {
  const [program] = command;
  return recover(() => {
    host.start(program, wordsOf(program, command), "", {
      timeout,
      limit: LONGEST_OUTPUT,
      capturesOutput: !isLogged,
      capturesErrors: false,
    });
    for (;;) {
      respondWhile(service, LONGEST_WAIT);
      const result = host.result(program);
      if (result !== undefined) return result;
    }
  }, itself);
}

/** Waits, and passes on what connections send meanwhile; it may return early, as at the end of a program. */
function respondWhile(service: Service, milliseconds: number): void {
  const request = host.wait(milliseconds);
  const response = request === undefined ? undefined : service.respond(request);
  if (response !== undefined) host.answer(response);
}
