/** The life of a call: it is received, served by its verb, and answered. */

import { type CniCall, receiveCall } from "./cni/call.ts";
import { asCniError } from "./cni/error.ts";
import { formatJson } from "./cni/json.ts";
import { logTime } from "./cni/log-time.ts";
import { isSystemError, type System } from "./system/system.ts";
import { about } from "./verbs/about.ts";
import { add } from "./verbs/add.ts";
import { check } from "./verbs/check.ts";
import { del } from "./verbs/del.ts";
import { gc } from "./verbs/gc.ts";
import { status } from "./verbs/status.ts";
import { version } from "./verbs/version.ts";

/**
 * Serves one call.
 *
 * @returns the exit code: 0, or 1 after an error object on standard output
 */
export function main(system: System): number {
  try {
    serve(system, receiveCall(system));
    return 0;
  } catch (error) {
    report(system, error);
    return 1;
  }
}

function serve(system: System, call: CniCall): void {
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

/** Errors go to standard output, where runtimes look for them (CNI SPEC 1.1.0, section 5). */
function report(system: System, thrown: unknown): void {
  const { code, message, details } = asCniError(thrown);
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
