/** The requirements on the answer to any call. */

import { readError } from "../../harness/printed-error.ts";
import type { Verifier } from "../../harness/violations.ts";
import { STACK_TRACE } from "./call-requirements.ts";
import type { Ending } from "./running-call.ts";

/**
 * An end in time; exit code 0 and at most one JSON document, or exit code 1 and one error JSON; no stack trace.
 *
 * @param outcome how the call ended
 * @param verifier where violations are noted
 */
export function verifyAnswer(outcome: Ending, verifier: Verifier): void {
  const { exitCode, signal, stdout, stderr, isCutOff, took } = outcome;
  if (isCutOff) {
    verifier.require(false, "hang", `cut off after ${Math.round(took)} ms`);
    return;
  }
  const output = `${stdout.slice(0, 300)} ${stderr.slice(0, 500)}`;
  const isEnd = exitCode === 0 || exitCode === 1;
  verifier.require(isEnd, "crash", `exit code ${exitCode}, signal ${signal}: ${output}`);
  verifier.require(!STACK_TRACE.test(stderr), "crash", `a stack trace: ${output}`);
  if (exitCode === 1) {
    verifier.require(readError(stdout) !== undefined, "mute", `no error JSON: ${output}`);
  } else if (stdout !== "") {
    verifier.require(isDocument(stdout), "mute", `not one JSON document: ${output}`);
  }
}

/**
 * Requires that a call fails, with a valid answer.
 *
 * @param outcome how the call ended
 * @param verifier where violations are noted
 */
export function verifyRefusal(outcome: Ending, verifier: Verifier): void {
  verifyAnswer(outcome, verifier);
  verifier.require(outcome.exitCode !== 0, "accepted", outcome.stdout.slice(0, 300));
}

/**
 * Requires that a call succeeds, with a valid answer.
 *
 * @param outcome how the call ended
 * @param verifier where violations are noted
 */
export function verifySuccess(outcome: Ending, verifier: Verifier): void {
  verifyAnswer(outcome, verifier);
  const isRefused = outcome.exitCode === 1;
  verifier.require(!isRefused, "refused", outcome.stdout.slice(0, 300));
}

function isDocument(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
