/** Serving on the C host: a loop that ends with the process. */

import type { Service, ServiceStep } from "../operator-system.ts";
import { isSystemError } from "../system.ts";
import { wordsOf } from "./host.ts";

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
    host.listen(`${address}:${port}`, address, port);
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
    host.start(program, wordsOf(program, command), timeout, isLogged);
    for (;;) {
      respondWhile(service, FOREVER);
      const result = host.result(program);
      if (result === undefined) continue;
      service.completed(result);
      return;
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    service.completed(error);
  }
}

/** Waits, and passes on what connections send meanwhile; it may return early. */
function respondWhile(service: Service, milliseconds: number): void {
  const request = host.wait(milliseconds);
  const response = request === undefined ? undefined : service.respond(request);
  if (response !== undefined) host.answer(response);
}
