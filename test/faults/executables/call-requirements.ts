/** What is required of the end of a call. */

import { readError } from "../../harness/printed-error.ts";
import type { Kind, Verifier } from "../../harness/violations.ts";
import type { Ending } from "./running-call.ts";

/** Lines that only a defect prints: of Node.js, of QuickJS, of Go. */
export const STACK_TRACE =
  /^\s+at .+|^goroutine \d|^runtime stack:|^panic: |^(?:\w*Error|fatal error): /m;

/**
 * Requires that a call came to an end by itself, and in order.
 *
 * @returns whether it did; if not, there is nothing more to be said of it
 */
export function requireEnd(verifier: Verifier, ending: Ending, what: string): boolean {
  const { isCutOff, exitCode, stderr, took } = ending;
  verifier.require(!isCutOff, "hang", `${what} did not end in ${Math.round(took / 1000)} s`);
  if (isCutOff) return false;
  const isOrderly = exitCode !== null && !STACK_TRACE.test(stderr);
  verifier.require(isOrderly, "crash", `${what} ended by ${exitCode}: ${stderr.slice(0, 300)}`);
  return isOrderly;
}

/** Requires that a call succeeds. */
export function requireSuccess(
  verifier: Verifier,
  ending: Ending,
  what: string,
  kind: Kind = "refused",
): void {
  if (!requireEnd(verifier, ending, what) || ending.exitCode === 0) return;
  verifier.require(false, kind, `${what} failed: ${ending.stdout} ${ending.stderr.slice(0, 300)}`);
}

/** Requires that a call fails with one error object that contains each of `words`. */
export function requireFailure(
  verifier: Verifier,
  ending: Ending,
  what: string,
  ...words: readonly string[]
): void {
  if (!requireEnd(verifier, ending, what)) return;
  verifier.require(ending.exitCode !== 0, "accepted", `${what} succeeded: ${ending.stdout}`);
  if (ending.exitCode === 0) return;
  const error = readError(ending.stdout);
  verifier.require(error !== undefined, "mute", `${what}: ${ending.stdout} ${ending.stderr}`);
  const text = `${error?.code} ${error?.msg} ${error?.details ?? ""}`;
  for (const word of words) {
    verifier.require(text.includes(word), "mute", `${what} does not say "${word}": ${text}`);
  }
}
