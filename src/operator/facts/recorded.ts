/** Which reservations a call of this plugin is on record for: those that the journal lists. */

import { ALL, listedIn, requireJournal } from "../../store/journal/journal-file.ts";
import { keyOf } from "../../store/reservations/owner.ts";
import { exists, isSystemError } from "../../system/system.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";

/** Whether a call of this plugin has made a reservation, or has come across it since. */
export type IsRecorded = (reservation: NodeReservation) => boolean;

/**
 * Reads the journal of a network for it.
 *
 * @returns `undefined` where that cannot be told: calls keep no journal there, or it cannot be read
 */
export function readRecorded(directory: NetworkDirectory): IsRecorded | undefined {
  const { files } = directory;
  try {
    if (files.state === undefined || directory.isShared) return undefined;
    const journal = requireJournal(files, ALL);
    // If calls have been here and keep no journal, the lock is of a kind that does not allow one.
    if (journal === undefined && exists(files.system, files.stateDirectory)) return undefined;
    const listed = listedIn(journal?.found ?? []);
    return ({ name, owner }) => listed.get(name) === keyOf(owner);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}
