/** The records of a journal, each read when it is asked for: of 60 000 an ADD needs one. */

import { attempt } from "../../system/system.ts";
import { recordsIn } from "./journal-file.ts";
import { type EarlierReservation, isEarlier, type JournalRecord, recordIn } from "./record.ts";

/** A record, and where it is among those of its journal: one that came later has a higher number. */
export interface PlacedRecord<R = JournalRecord> {
  readonly place: number;
  readonly record: R;
}

/** How many reservations are searched for in the journal's file before an index of all its lines is made. */
const SEARCHES = 8;

/** What a journal tells of reservations: the last line about each that has a record. */
export class Records {
  readonly #lines: readonly string[];
  readonly #changedBefore: bigint | undefined;
  readonly #linesAbout: ((name: string) => readonly string[]) | undefined;
  #places: ReadonlyMap<string, number> | undefined;
  #searches = 0;
  readonly #counts: (record: EarlierReservation) => boolean;

  /**
   * @param lines all that the journal has; those from before this boot are the first of them that have records
   * @param changedBefore as `recordIn` takes it
   * @param counts whether one from before this boot is of this machine, and of another boot
   * @param linesAbout finds the lines about a reservation, and perhaps others, in the journal's file, in their order
   */
  constructor(
    lines: readonly string[],
    changedBefore?: bigint,
    counts: (record: EarlierReservation) => boolean = () => true,
    linesAbout?: (name: string) => readonly string[],
  ) {
    this.#lines = lines;
    this.#changedBefore = changedBefore;
    this.#counts = counts;
    this.#linesAbout = linesAbout;
  }

  /** All records, in the order of the journal, one after the other as they are asked for. */
  *all(): Generator<PlacedRecord, void> {
    for (const place of this.#indexed().values()) {
      const placed = this.#at(place);
      if (placed !== undefined) yield placed;
    }
  }

  /** All records in the order of the journal, with those that a later line has replaced: see `isLast`. */
  *written(): Generator<PlacedRecord, void> {
    for (const place of this.#lines.keys()) {
      const placed = this.#at(place);
      if (placed !== undefined) yield placed;
    }
  }

  /** Whether no later line is about the reservation of a record. */
  isLast({ place, record: { name } }: PlacedRecord): boolean {
    const linesAbout = this.#linesAbout;
    if (this.#places === undefined && linesAbout !== undefined && this.#searches++ < SEARCHES) {
      const lines = attempt(() => linesAbout(name), []);
      return lines[recordsIn(lines).get(name) ?? -1] === this.#lines[place];
    }
    return this.#indexed().get(name) === place;
  }

  /** The record of the reservation with this file name; `undefined` where there is none. */
  of(name: string): PlacedRecord | undefined {
    return this.#at(this.#indexed().get(name) ?? -1);
  }

  /** Whether it tells of anything from before this boot. */
  hasEarlier(): boolean {
    const [first] = this.all();
    return first !== undefined && isEarlier(first.record);
  }

  #indexed(): ReadonlyMap<string, number> {
    this.#places ??= recordsIn(this.#lines);
    return this.#places;
  }

  #at(place: number): PlacedRecord | undefined {
    const record = recordIn(this.#lines[place] ?? "", this.#changedBefore);
    if (record === undefined || (isEarlier(record) && !this.#counts(record))) return undefined;
    return { place, record };
  }
}

/** The records of no journal: none. */
export const NO_RECORDS = new Records([]);
