/** Errors of Node.js as the plugin's own. */

import { SystemError } from "../system.ts";

/**
 * Does `call` and words its failure.
 *
 * @param operation the call's name in the message
 * @param path what it was about
 * @throws SystemError where the machine refuses
 */
export function systemCall<T>(operation: string, path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof SystemError) throw error;
    throw new SystemError(operation, path, errnoOf(error));
  }
}

/** The errno name of an error; an error without one is a defect and thrown on. */
export function errnoOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) throw error;
  const code = String(error.code);
  // Node.js refuses a NUL itself; the kernel would have cut the path off there.
  return code === "ERR_INVALID_ARG_VALUE" ? "EINVAL" : code;
}
