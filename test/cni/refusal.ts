/** The error object of a call that is refused. */

import { asCniError } from "../../src/cni/error.ts";

/** The parts of an error object. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly details: string;
}

/**
 * Runs what must fail and returns its error.
 *
 * @throws Error where it does not fail
 */
export function refusalOf(act: () => unknown): Refusal {
  try {
    act();
  } catch (thrown) {
    const { code, message, details } = asCniError(thrown);
    return { code, message, details };
  }
  throw new Error("nothing was refused");
}
