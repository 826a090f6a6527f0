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

/** How the lines of a journal are read. */
interface RecordsOptions {
  /** The bound of records that do not tell it, as `recordIn` takes it. */
  readonly changedBefore?: bigint | undefined;
  /** Whether a record from before this boot is of this machine, and of another boot; by default it is. */
  readonly counts?: (record: EarlierReservation) => boolean;
  /**
   * Finds the lines about a reservation, and perhaps others, in the journal's file, in their order. Only the holder of the lock
   * may look there: for any other the file may be another one by now.
   */
  readonly linesAbout?: ((name: string) => readonly string[]) | undefined;
}

/** What a journal tells of reservations: all lines that have a record, or the last about each. */
export class Records {
  readonly #lines: readonly string[];
  readonly #changedBefore: bigint | undefined;
  readonly #counts: (record: EarlierReservation) => boolean;
  readonly #linesAbout: RecordsOptions["linesAbout"];
  #places: ReadonlyMap<string, number> | undefined;
  #searches = 0;

  /** @param lines all that the journal has; those from before this boot are the first of them that have records */
  constructor(
    lines: readonly string[],
    { changedBefore, counts = () => true, linesAbout }: RecordsOptions = {},
  ) {
    this.#lines = lines;
    this.#changedBefore = changedBefore;
    this.#counts = counts;
    this.#linesAbout = linesAbout;
  }

  /** The last records about each reservation, in the order of the journal, one after the other as they are asked for. */
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
    const lines = this.#found(name);
    if (lines === undefined) return this.#indexed().get(name) === place;
    return lines[recordsIn(lines).get(name) ?? -1] === this.#lines[place];
  }

  /** The lines about a reservation in the journal's file; `undefined` where they are not searched for, or cannot be read. */
  #found(name: string): readonly string[] | undefined {
    const linesAbout = this.#linesAbout;
    if (linesAbout === undefined || this.#places !== undefined) return undefined;
    return this.#searches++ < SEARCHES ? attempt(() => linesAbout(name), undefined) : undefined;
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
