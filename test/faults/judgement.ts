/** What a fault may do to users: the words in which every test of faults says what went wrong. */

/** The ways in which an executable may fail its users. */
export type Kind =
  /** An address that its owner's DEL does not free, or that nobody can get any more. */
  | "leak"
  /** A reservation that is not whole. */
  | "torn"
  /** An address held by two. */
  | "double"
  /** A failed ADD keeps its address, though it could have given it back. */
  | "kept"
  /** Another call does not work, or waits longer than it should. */
  | "blocked"
  /** A call that should have worked failed. */
  | "refused"
  /** A call that should have failed worked. */
  | "accepted"
  /** A failure without one error JSON that says what happened where. */
  | "mute"
  /** An uncaught error, a stack trace, death by a signal of its own making. */
  | "crash"
  /** No end within the time there is. */
  | "hang"
  /** A file outside the data directory, or one with other permissions. */
  | "escaped";

/** One way in which an attempt went wrong. */
export interface Violation {
  readonly kind: Kind;
  readonly detail: string;
}

/** Collects violations as they are found. */
export class Judgement {
  readonly violations: Violation[] = [];

  /** Notes a violation unless `holds`. */
  require(holds: boolean, kind: Kind, detail: string): void {
    if (!holds) this.violations.push({ kind, detail });
  }
}
