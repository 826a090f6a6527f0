/** The requirements on the answer to any call. */

import { readError } from "../../blackbox/printed-error.ts";
import type { Judgement } from "../judgement.ts";
import { STACK_TRACE } from "./judged-call.ts";
import type { Ending } from "./running-call.ts";

/**
 * An end in time; exit code 0 and at most one JSON document, or exit code 1 and one error JSON; no stack trace.
 *
 * @param outcome how the call ended
 * @param judgement where violations are noted
 */
export function judgeAnswer(outcome: Ending, judgement: Judgement): void {
  const { exitCode, signal, stdout, stderr, isCutOff, took } = outcome;
  if (isCutOff) {
    judgement.require(false, "hang", `cut off after ${Math.round(took)} ms`);
    return;
  }
  const output = `${stdout.slice(0, 300)} ${stderr.slice(0, 500)}`;
  const isEnd = exitCode === 0 || exitCode === 1;
  judgement.require(isEnd, "crash", `exit code ${exitCode}, signal ${signal}: ${output}`);
  judgement.require(!STACK_TRACE.test(stderr), "crash", `a stack trace: ${output}`);
  if (exitCode === 1) {
    judgement.require(readError(stdout) !== undefined, "mute", `no error JSON: ${output}`);
  } else if (stdout !== "") {
    judgement.require(isDocument(stdout), "mute", `not one JSON document: ${output}`);
  }
}

/**
 * Requires that a call fails, with a valid answer.
 *
 * @param outcome how the call ended
 * @param judgement where violations are noted
 */
export function judgeRefusal(outcome: Ending, judgement: Judgement): void {
  judgeAnswer(outcome, judgement);
  judgement.require(outcome.exitCode !== 0, "accepted", outcome.stdout.slice(0, 300));
}

/**
 * Requires that a call succeeds, with a valid answer.
 *
 * @param outcome how the call ended
 * @param judgement where violations are noted
 */
export function judgeSuccess(outcome: Ending, judgement: Judgement): void {
  judgeAnswer(outcome, judgement);
  const isRefused = outcome.exitCode === 1;
  judgement.require(!isRefused, "refused", outcome.stdout.slice(0, 300));
}

function isDocument(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
