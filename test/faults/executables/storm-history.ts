/** What the log of a storm says about one attachment: what it holds, since when, and until when. */

import type { Operation } from "./storm-log.ts";

/** What an attachment holds according to the answers; unknown after a kill. */
export type Holding =
  | { readonly kind: "absent" }
  | { readonly kind: "held"; readonly addresses: readonly string[] }
  | { readonly kind: "unknown" };

/** A stretch of time in milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Addresses that no other attachment may have. */
export interface Tenure extends Span {
  readonly attachment: string;
  readonly addresses: readonly string[];
}

/** The life of one attachment in a network. */
export interface History {
  readonly attachment: string;
  /** From the answer of an ADD to the beginning of the release: certainly held. */
  readonly tenures: readonly Tenure[];
  /** From the beginning of an ADD to the end of the release: held at most that long. */
  readonly mayHold: readonly Span[];
  /**
   * What it held when each call for it began; `unknown` also where a GC that may free it ran at that time, and after a
   * boot, in which nothing lives on.
   */
  readonly before: ReadonlyMap<Operation, Holding>;
  readonly end: Holding;
}

const ABSENT: Holding = { kind: "absent" };
const UNKNOWN: Holding = { kind: "unknown" };

/**
 * Follows an attachment through the calls of its network. A runtime makes one call for it at a time, but GCs that do
 * not list it may come at any moment.
 *
 * @param calls the ADDs, DELs and CHECKs for it
 * @param collections all GCs of the network
 * @param boots when the machine booted, in milliseconds; no call ran at that time
 */
export function historyOf(
  attachment: string,
  calls: readonly Operation[],
  collections: readonly Operation[],
  boots: readonly number[] = [],
): History {
  const history = new HistoryWriter(attachment);
  const releases = collections.filter(({ valid }) => valid?.has(attachment) === false);
  const all = [...calls, ...releases].sort((a, b) => a.start - b.start);
  const steps = [
    ...boots.map((time) => ({ time, take: () => history.boot(time) })),
    ...all.map((operation, at) => ({
      time: operation.start,
      take: () => history.live(operation, all[at + 1]?.start),
    })),
  ].sort((a, b) => a.time - b.time);
  for (const { take } of steps) take();
  return history.finish();
}

class HistoryWriter {
  readonly #attachment: string;
  readonly #tenures: Tenure[] = [];
  readonly #mayHold: Span[] = [];
  readonly #before = new Map<Operation, Holding>();
  #holding: Holding = ABSENT;
  #heldSince = 0;
  #mayHoldSince: number | undefined;
  #addingUntil = Number.NEGATIVE_INFINITY;
  #releasingUntil = Number.NEGATIVE_INFINITY;

  constructor(attachment: string) {
    this.#attachment = attachment;
  }

  live(operation: Operation, next = Number.POSITIVE_INFINITY): void {
    const { verb, start, end } = operation;
    const isAlone = start >= Math.max(this.#addingUntil, this.#releasingUntil) && next >= end;
    this.#before.set(operation, isAlone ? this.#holding : UNKNOWN);
    if (verb === "ADD") this.#add(operation);
    else if (verb !== "CHECK") this.#release(operation);
  }

  /** It lives no longer; what it held may stay, or give way to others. */
  boot(time: number): void {
    this.#endTenure(time);
    if (this.#holding.kind === "held") this.#holding = UNKNOWN;
  }

  finish(): History {
    this.#endTenure(Number.POSITIVE_INFINITY);
    if (this.#mayHoldSince !== undefined) this.#endMayHold(Number.POSITIVE_INFINITY);
    return {
      attachment: this.#attachment,
      tenures: this.#tenures,
      mayHold: this.#mayHold,
      before: this.#before,
      end: this.#holding,
    };
  }

  #add({ start, end, answer, addresses }: Operation): void {
    this.#mayHoldSince ??= start;
    this.#addingUntil = end;
    // A repeated ADD does not change what its attachment holds, however it ends.
    if (this.#holding.kind === "held") return;
    if (start < this.#releasingUntil) this.#holding = UNKNOWN;
    else if (addresses.length > 0) {
      this.#holding = { kind: "held", addresses };
      this.#heldSince = end;
    } else if (answer !== "refused") this.#holding = UNKNOWN;
    else if (this.#holding.kind === "absent") this.#endMayHold(end);
  }

  #release({ start, end, answer }: Operation): void {
    this.#endTenure(start);
    const isAmongReleases = start >= this.#addingUntil;
    if (isAmongReleases && answer === "done") {
      this.#holding = ABSENT;
      if (this.#mayHoldSince !== undefined) this.#endMayHold(end);
    } else if (this.#holding.kind === "held" || !isAmongReleases) {
      this.#holding = UNKNOWN;
    }
    this.#releasingUntil = Math.max(this.#releasingUntil, end);
  }

  #endTenure(to: number): void {
    if (this.#holding.kind !== "held") return;
    const { addresses } = this.#holding;
    const from = this.#heldSince;
    if (from < to) this.#tenures.push({ attachment: this.#attachment, addresses, from, to });
  }

  #endMayHold(to: number): void {
    this.#mayHold.push({ from: this.#mayHoldSince ?? to, to });
    this.#mayHoldSince = undefined;
  }
}
