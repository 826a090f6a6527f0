/** Runs one call of the plugin: reads it, runs its verb, and prints the result or the error. */

import { type CniCall, receiveCall } from "./cni/call.ts";
import { asCniError } from "./cni/error.ts";
import { formatJson } from "./cni/json.ts";
import { logTime } from "./cni/log-time.ts";
import { withTrace } from "./cni/trace.ts";
import { isSystemError, type System } from "./system/system.ts";
import { about } from "./verbs/about.ts";
import { add } from "./verbs/add.ts";
import { check } from "./verbs/check.ts";
import { del } from "./verbs/del.ts";
import { gc } from "./verbs/gc.ts";
import { status } from "./verbs/status.ts";
import { version } from "./verbs/version.ts";

/**
 * Runs one call.
 *
 * @returns the exit code: 0, or 1 after an error object on standard output
 */
export function main(system: System): number {
  try {
    run(system, receiveCall(system));
    return 0;
  } catch (error) {
    printError(system, error);
    return 1;
  }
}

function run(system: System, call: CniCall): void {
  switch (call.verb) {
    case "about":
      about(system);
      break;
    case "VERSION":
      version(system);
      break;
    case "ADD":
      add(system, call);
      break;
    case "DEL":
      del(system, call);
      break;
    case "CHECK":
      check(system, call);
      break;
    case "GC":
      gc(system, call);
      break;
    case "STATUS":
      status(system, call);
      break;
  }
}

/** Errors go to standard output, where runtimes read them (CNI SPEC 1.1.0, section 5). */
function printError(system: System, thrown: unknown): void {
  const { code, message, details: found } = asCniError(thrown);
  const details = withTrace(found, "; ", system.environment("TRACEPARENT"));
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
