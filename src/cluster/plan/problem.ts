/** A problem of a plan. */

import type { Family } from "../../ipam/address.ts";

/** Something that does not fit. */
export interface Problem {
  readonly code: string;
  /** `undefined` where it concerns all families. */
  readonly family: Family | undefined;
  readonly message: string;
  /** What to choose instead. */
  readonly instead: string;
}
