/** What is wrong with a plan. */

import type { Family } from "../../ipam/address.ts";

/** What does not fit, and what to choose instead. */
export interface Problem {
  readonly code: string;
  /** `undefined` where it is not one family's. */
  readonly family: Family | undefined;
  readonly message: string;
  readonly instead: string;
}
