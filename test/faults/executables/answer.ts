/** What every call owes its caller, whatever it was given. */

import { readError } from "../../blackbox/printed-error.ts";
import type { Judgement } from "../judgement.ts";
import type { CutOffOutcome } from "./cut-off-call.ts";

/** Lines that only a defect prints: of Node.js, of QuickJS, of Go. */
const stackTrace = /^\s+at .+|^goroutine \d|^panic: |^(?:\w*Error|fatal error): /m;

/**
 * An end in time; exit code 0 and at most one JSON document, or exit code 1 and one error JSON; no stack trace.
 *
 * @param outcome how the call ended
 * @param judgement where violations are noted
 */
export function judgeAnswer(outcome: CutOffOutcome, judgement: Judgement): void {
  const { exitCode, signal, stdout, stderr, cutOff, milliseconds } = outcome;
  if (cutOff) {
    judgement.require(false, "hang", `cut off after ${Math.round(milliseconds)} ms`);
    return;
  }
  const output = `${stdout.slice(0, 300)} ${stderr.slice(0, 500)}`;
  const isEnd = exitCode === 0 || exitCode === 1;
  judgement.require(isEnd, "crash", `exit code ${exitCode}, signal ${signal}: ${output}`);
  judgement.require(!stackTrace.test(stderr), "crash", `a stack trace: ${output}`);
  if (exitCode === 1) {
    judgement.require(readError(stdout) !== undefined, "mute", `no error JSON: ${output}`);
  } else if (stdout !== "") {
    judgement.require(isDocument(stdout), "mute", `not one JSON document: ${output}`);
  }
}

/**
 * A call that must fail, with an answer as every call owes it.
 *
 * @param outcome how the call ended
 * @param judgement where violations are noted
 */
export function judgeRefusal(outcome: CutOffOutcome, judgement: Judgement): void {
  judgeAnswer(outcome, judgement);
  judgement.require(outcome.exitCode !== 0, "accepted", outcome.stdout.slice(0, 300));
}

/**
 * A call that must work, with an answer as every call owes it.
 *
 * @param outcome how the call ended
 * @param judgement where violations are noted
 */
export function judgeSuccess(outcome: CutOffOutcome, judgement: Judgement): void {
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
