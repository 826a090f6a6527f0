/**
 * The part of an outcome that must equal the Go plugin's.
 *
 * Results and the VERSION answer are compared byte by byte. An error is compared by code and message; its details must be the
 * Go plugin's if the Go plugin gives any, and are free otherwise. Texts that belong to Go's JSON library or to the build are
 * reduced to the promised part.
 */

import type { Outcome } from "../harness/machine.ts";
import { type PrintedError, readError } from "../harness/printed-error.ts";

/** An outcome reduced to the promised part. Two of them may be compared with a deep equality. */
export interface Comparable {
  readonly exitCode: number | null | undefined;
  readonly output: string | PrintedError;
  readonly stderr: string;
}

/** Go's JSON library words type errors differently from release to release. */
const typeErrorPrefix = "json: cannot unmarshal ";

/** The first line of the "about" text ends with a version that is set when a plugin is built. */
const aboutLine = /^(CNI \S+ plugin) .+$/m;

/**
 * Reduces an outcome to the part that the Go plugin's outcome requires.
 *
 * @param outcome the outcome to reduce
 * @param reference the Go plugin's outcome; give it as `outcome` too, to get the expectation
 */
export function comparable(outcome: Outcome, reference: Outcome): Comparable {
  return {
    exitCode: outcome.exitCode,
    output: comparableOutput(outcome.stdout, reference.stdout),
    stderr: outcome.stderr.replace(aboutLine, "$1 <build version>"),
  };
}

function comparableOutput(actual: string, reference: string): string | PrintedError {
  const expected = readError(reference);
  const error = readError(actual);
  if (expected === undefined || error === undefined) {
    return actual;
  }
  const { code, msg, details } = error;
  const promised = { code, msg: promisedMessage(msg, expected.msg) };
  return expected.details === undefined || details === undefined
    ? promised
    : { ...promised, details };
}

function promisedMessage(message: string, reference: string): string {
  const at = reference.indexOf(typeErrorPrefix);
  return at < 0 ? message : message.slice(0, at + typeErrorPrefix.length);
}
