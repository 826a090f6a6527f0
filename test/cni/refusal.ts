/** What a caller is told when something is refused. */

import { asCniError } from "../../src/cni/error.ts";

/** The parts of an error object. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly details: string;
}

/**
 * Does what must be refused.
 *
 * @throws Error where it is not refused
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
