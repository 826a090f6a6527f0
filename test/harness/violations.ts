/** How a fault can harm users. Every test of faults reports in these terms. */

/** Kinds of harm. */
export type Kind =
  /** An address that its owner's DEL does not release, or that can never be handed out again. */
  | "leak"
  /** An incomplete reservation. */
  | "torn"
  /** An address with two owners. */
  | "double"
  /** A failed ADD keeps an address that it could have released. */
  | "kept"
  /** Another call fails, or waits too long. */
  | "blocked"
  /** A call fails that should succeed. */
  | "refused"
  /** A call succeeds that should fail. */
  | "accepted"
  /** A failure without one error JSON that says what failed and where. */
  | "mute"
  /** An uncaught error, a stack trace, an unexpected signal. */
  | "crash"
  /** No end within the time limit. */
  | "hang"
  /** A file outside the data directory, or with another mode than it should have. */
  | "escaped";

/** A harm that was found. */
export interface Violation {
  readonly kind: Kind;
  readonly detail: string;
}

/** Collects violations as they are found. */
export class Verifier {
  readonly violations: Violation[] = [];

  /** Notes a violation unless `holds`. */
  require(holds: boolean, kind: Kind, detail: string): void {
    if (!holds) this.violations.push({ kind, detail });
  }
}
