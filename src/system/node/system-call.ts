/** Converts errors of Node.js to `SystemError`. */

import { SystemError } from "../system.ts";

/**
 * Runs `call` and converts its error.
 *
 * @param operation the call's name in the message
 * @param path the path in the message
 * @throws SystemError where the system call fails
 */
export function systemCall<T>(operation: string, path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof SystemError) throw error;
    throw new SystemError(operation, path, errnoOf(error));
  }
}

/** Runs a call whose failure changes nothing; `undefined` where it fails. */
export function quietly<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    errnoOf(error);
    return undefined;
  }
}

/** The name of an error's errno; an error without one is a defect, and thrown again. */
export function errnoOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) throw error;
  const code = String(error.code);
  // Node.js rejects a path with a NUL, where the kernel would truncate it.
  return code === "ERR_INVALID_ARG_VALUE" ? "EINVAL" : code;
}
