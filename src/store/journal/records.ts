/** The records of a journal, each read when it is asked for: of 60 000 an ADD needs one. */

import { type EarlierReservation, isEarlier, type JournalRecord, recordIn } from "./record.ts";

/** A record, and where it is among those of its journal: one that came later has a higher number. */
export interface PlacedRecord<R = JournalRecord> {
  readonly place: number;
  readonly record: R;
}

/** What a journal tells of reservations: all lines that have a record, or the last about each. */
export class Records {
  readonly #lines: readonly string[];
  readonly #counts: (record: EarlierReservation) => boolean;
  #places: ReadonlyMap<string, number> | undefined;

  /**
   * @param lines all that the journal has; those from before this boot are the first of them that have records
   * @param counts whether a record from before this boot is of this machine, and of another boot; by default it is
   */
  constructor(
    lines: readonly string[],
    counts: (record: EarlierReservation) => boolean = () => true,
  ) {
    this.#lines = lines;
    this.#counts = counts;
  }

  /** The last records about each reservation, in the order of the journal, one after the other as they are asked for. */
  *all(): Generator<PlacedRecord, void> {
    for (const place of this.#indexed().values()) {
      const placed = this.#at(place);
      if (placed !== undefined) yield placed;
    }
  }

  /** All records in the order of the journal, including those that a later line has replaced, whose files are gone. */
  *written(): Generator<PlacedRecord, void> {
    for (const place of this.#lines.keys()) {
      const placed = this.#at(place);
      if (placed !== undefined) yield placed;
    }
  }

  /** The record of the reservation with this file name; `undefined` where there is none. */
  of(name: string): PlacedRecord | undefined {
    return this.#at(this.#indexed().get(name) ?? -1);
  }

  /** The last lines about each reservation, by its file name, in the order of the journal. */
  lines(): ReadonlyMap<string, string> {
    return new Map([...this.#indexed()].map(([name, place]) => [name, this.#lines[place] ?? ""]));
  }

  /** Whether it tells of anything from before this boot. */
  hasEarlier(): boolean {
    const [first] = this.all();
    return first !== undefined && isEarlier(first.record);
  }

  #indexed(): ReadonlyMap<string, number> {
    this.#places ??= placesIn(this.#lines);
    return this.#places;
  }

  #at(place: number): PlacedRecord | undefined {
    const record = recordIn(this.#lines[place] ?? "");
    if (record === undefined || (isEarlier(record) && !this.#counts(record))) return undefined;
    return { place, record };
  }
}

/**
 * The last line of each reservation with a record: its index, by the name of the reservation; in the order of the journal.
 *
 * @param lines all of a journal
 */
function placesIn(lines: readonly string[]): ReadonlyMap<string, number> {
  const records = new Map<string, number>();
  let at = -1;
  for (const line of lines) {
    at++;
    const begin = line.indexOf(" ", line.indexOf(" ") + 1) + 1;
    if (begin === 0) continue;
    const end = line.indexOf(" ", begin);
    if (end < 0 && records.size === 0) continue;
    const name = end < 0 ? line.slice(begin) : line.slice(begin, end);
    records.delete(name.startsWith("-") ? name.slice(1) : name);
    if (end >= 0) records.set(name, at);
  }
  return records;
}

/** The records of no journal: none. */
export const NO_RECORDS = new Records([]);
