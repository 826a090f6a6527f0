/** Serving on the C host: a loop that ends with the process. */

import type { Service, ServiceStep } from "../operator-system.ts";
import { itself, recover } from "../system.ts";
import { wordsOf } from "./host.ts";

/** Of a program, in bytes: metrics of a network are 4 KB. */
const LONGEST_OUTPUT = 4 * 1024 * 1024;

type Run = Extract<ServiceStep, { readonly kind: "run" }>;

/** See `OperatorSystem`. */
export function serve(service: Service): never {
  const running = new Set<Run>();
  host.endOnSignals();
  for (;;) {
    const step = service.next();
    if (step.kind === "run") start(service, step, running);
    else if (step.kind === "listen") listen(service, step);
    else respondWhile(service, step.milliseconds);
    for (const one of running) complete(service, one, running);
  }
}

function listen(service: Service, step: Extract<ServiceStep, { readonly kind: "listen" }>): void {
  const { address, port } = step;
  const listening = (): "listening" => {
    host.listen(`${address}:${port}`, address, port);
    return "listening";
  };
  service.completed(step, recover(listening, itself));
}

function start(service: Service, step: Run, running: Set<Run>): void {
  const { command, timeout, isLogged, place } = step;
  const [program] = command;
  const words = wordsOf(program, command);
  const error = recover(() => {
    host.start(program, words, "", timeout, LONGEST_OUTPUT, !isLogged, true, place);
  }, itself);
  if (error === undefined) running.add(step);
  else service.completed(step, error);
}

/** Passes on what a program ended with, if it has. */
function complete(service: Service, step: Run, running: Set<Run>): void {
  const result = recover(() => host.result(step.command[0], step.place), itself);
  if (result === undefined) return;
  running.delete(step);
  service.completed(step, result);
}

/** Waits, and passes on what connections send meanwhile; it may return early, as at the end of a program. */
function respondWhile(service: Service, milliseconds: number): void {
  const request = host.wait(milliseconds);
  const response = request === undefined ? undefined : service.respond(request);
  if (response !== undefined) host.answer(response);
}
