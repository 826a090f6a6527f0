/** Runs one call of a plugin: reads it, runs its verb, and prints the result or the error. */

import { type CniCall, receiveCall } from "./cni/call.ts";
import { asCniError, CniError } from "./cni/error.ts";
import { formatJson } from "./cni/json.ts";
import { logTime } from "./cni/log-time.ts";
import type { Plugin } from "./cni/plugin.ts";
import { withTrace } from "./cni/trace.ts";
import { staticPlugin } from "./static/static.ts";
import { isSystemError, type System } from "./system/system.ts";
import { about } from "./verbs/about.ts";
import { hostLocal } from "./verbs/host-local.ts";
import { keepFailure } from "./verbs/keep-failure.ts";
import { version } from "./verbs/version.ts";

/**
 * Runs one call.
 *
 * @param name the name that the program was called by, without a directory: `static` is that plugin, any other name
 * `host-local`
 * @returns the exit code: 0, or 1 after an error object on standard output
 */
export function main(system: System, name = hostLocal.name): number {
  const plugin = name === staticPlugin.name ? staticPlugin : hostLocal;
  let call: CniCall | undefined;
  try {
    call = receiveCall(system);
    run(system, plugin, call);
    return 0;
  } catch (thrown) {
    const error = errorOf(system, thrown);
    printError(system, error);
    // The static plugin keeps nothing.
    if (plugin === hostLocal) keepFailure(system, call, error);
    return 1;
  }
}

function run(system: System, plugin: Plugin, call: CniCall): void {
  switch (call.verb) {
    case "about":
      about(system, plugin);
      break;
    case "VERSION":
      version(system);
      break;
    case "ADD":
      plugin.add(system, call);
      break;
    case "DEL":
      plugin.del(system, call);
      break;
    case "CHECK":
      plugin.check(system, call);
      break;
    case "GC":
      plugin.gc(system, call);
      break;
    case "STATUS":
      plugin.status(system, call);
      break;
  }
}

/** The error that is reported, with the trace of the call. */
function errorOf(system: System, thrown: unknown): CniError {
  const { code, message, details } = asCniError(thrown);
  return new CniError(code, message, withTrace(details, "; ", system.environment("TRACEPARENT")));
}

/** Errors go to standard output, where runtimes read them (CNI SPEC 1.1.0, section 5). */
function printError(system: System, { code, message, details }: CniError): void {
  const error = { code, msg: message, details: details === "" ? undefined : details };
  try {
    system.writeStandardOutput(formatJson(error));
  } catch (failure) {
    if (!isSystemError(failure)) throw failure;
    system.writeStandardError(
      `${logTime(system.now())} Error writing error JSON to stdout: ${failure.message}\n`,
    );
  }
}
