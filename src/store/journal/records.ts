/** The records of a journal, each read when it is asked for: of 60 000 an ADD needs one. */

import type { NetworkFiles } from "../files/network-files.ts";
import { type JournalContent, recordsIn, sealedAt } from "./journal-file.ts";
import { type RecordedReservation, recordIn } from "./record.ts";

/** A record, and where it is among those of its journal: one that came later has a higher number. */
export interface PlacedRecord {
  readonly place: number;
  readonly record: RecordedReservation;
}

/** What a journal tells of reservations: the last line about each that has a record. */
export class Records {
  readonly #lines: readonly string[];
  readonly #changedBefore: bigint | undefined;
  readonly #places: ReadonlyMap<string, number>;

  /**
   * @param lines all that the journal has
   * @param changedBefore as `recordIn` takes it
   */
  constructor(lines: readonly string[], changedBefore: bigint | undefined) {
    this.#lines = lines;
    this.#changedBefore = changedBefore;
    this.#places = recordsIn(lines);
  }

  /** All, in the order of the journal, one after the other as they are asked for. */
  *all(): Generator<PlacedRecord, void> {
    for (const place of this.#places.values()) {
      const placed = this.#at(place);
      if (placed !== undefined) yield placed;
    }
  }

  /** That of the reservation with this file name; `undefined` where there is none. */
  of(name: string): PlacedRecord | undefined {
    return this.#at(this.#places.get(name) ?? -1);
  }

  #at(place: number): PlacedRecord | undefined {
    const record = recordIn(this.#lines[place] ?? "", this.#changedBefore);
    return record && { place, record };
  }
}

/** Those of no journal. */
export const NO_RECORDS = new Records([], undefined);

/** What a journal tells of reservations of the running boot; nothing where there is none. */
export function recordsOf(files: NetworkFiles, journal: JournalContent | undefined): Records {
  if (journal?.seal === undefined || journal.seal.boot !== files.boot) return NO_RECORDS;
  // Somebody else may have released and reserved an address since, with the same inode and date.
  return new Records(journal.found, journal.isCurrent ? undefined : sealedAt(journal.seal));
}
