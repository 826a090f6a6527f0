/** What a scenario of faults is. */

import type { Test } from "tap";
import type { Extent } from "../../harness/extent.ts";
import type { Violation } from "../../harness/violations.ts";
import type { Subject } from "./subject.ts";

/** One fault, once. */
export interface Attempt {
  readonly what: string;
  readonly violations: readonly Violation[];
}

/** Into which executable faults are injected, and how many. */
export interface Context {
  readonly subject: Subject;
  readonly extent: Extent;
  readonly seed: number;
  /** Registers what is to be undone after the scenario. */
  readonly teardown: Test["teardown"];
}

/** A kind of fault with what must hold after it. */
export interface Scenario {
  /** The fault, as a row of the table names it. */
  readonly fault: string;
  /** What must hold. */
  readonly promise: string;
  /** Why it cannot run here; `undefined` where it can. */
  readonly obstacle?: () => string | undefined;
  readonly attempt: (context: Context) => Promise<readonly Attempt[]>;
}
