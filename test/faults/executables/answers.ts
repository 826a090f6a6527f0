/** Requirements on the answer to a call. */

import { readError } from "../../harness/printed-error.ts";
import type { Kind, Verifier } from "../../harness/violations.ts";
import type { Ending } from "./running-call.ts";

/** Lines that only a defect prints: of Node.js, of QuickJS, of Go. */
const STACK_TRACE = /^\s+at .+|^goroutine \d|^runtime stack:|^panic: |^(?:\w*Error|fatal error): /m;

/**
 * Requires that a call ended by itself, and in order: with exit code 0 and at most one JSON document, or with exit code 1 and
 * one error JSON, and without a stack trace.
 *
 * @returns whether it did; if not, nothing more can be said of the call
 */
export function requireAnswer(verifier: Verifier, ending: Ending, what: string): boolean {
  const { isCutOff, exitCode, signal, stdout, stderr, took } = ending;
  const before = verifier.violations.length;
  const output = `${what}: ${stdout.slice(0, 300)} ${stderr.slice(0, 500)}`;
  if (isCutOff) {
    verifier.require(false, "hang", `${what} did not end in ${Math.round(took / 1000)} s`);
  } else if ((exitCode !== 0 && exitCode !== 1) || STACK_TRACE.test(stderr)) {
    verifier.require(false, "crash", `exit code ${exitCode}, signal ${signal}: ${output}`);
  } else if (exitCode === 1) {
    verifier.require(readError(stdout) !== undefined, "mute", `no error JSON: ${output}`);
  } else {
    verifier.require(stdout === "" || isDocument(stdout), "mute", `no JSON document: ${output}`);
  }
  return verifier.violations.length === before;
}

/**
 * Requires that a call succeeds.
 *
 * @param kind the violation if it does not
 */
export function requireSuccess(
  verifier: Verifier,
  ending: Ending,
  what: string,
  kind: Kind = "refused",
): void {
  if (!requireAnswer(verifier, ending, what) || ending.exitCode === 0) return;
  verifier.require(false, kind, `${what} failed: ${ending.stdout} ${ending.stderr.slice(0, 300)}`);
}

/** Requires that a call fails with one error object that contains each of `words`, after its code. */
export function requireFailure(
  verifier: Verifier,
  ending: Ending,
  what: string,
  ...words: readonly string[]
): void {
  if (!requireAnswer(verifier, ending, what)) return;
  verifier.require(ending.exitCode !== 0, "accepted", `${what} succeeded: ${ending.stdout}`);
  const error = readError(ending.stdout);
  if (error === undefined) return;
  const text = `${error.code} ${error.msg} ${error.details ?? ""}`;
  for (const word of words) {
    verifier.require(text.includes(word), "mute", `${what} does not say "${word}": ${text}`);
  }
}

/** Requires that no address occurs twice. */
export function requireDistinct(verifier: Verifier, addresses: readonly string[]): void {
  const isEach = new Set(addresses).size === addresses.length;
  verifier.require(isEach, "double", `handed out: ${addresses.join(" ")}`);
}

function isDocument(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
