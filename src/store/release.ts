/** Releasing addresses. */

import { CniError, ErrorCode } from "../cni/error.ts";
import { isSystemError } from "../system/system.ts";
import { type EntryName, entryOf } from "./owner-index.ts";
import type { OwnedReservation } from "./reservations.ts";
import type { Store } from "./store.ts";

/**
 * Removes reservations; an error is reported only after all others were removed.
 *
 * @param all every reservation of the owners in question
 * @param released those of them to remove
 * @throws CniError 5 with the path and reason of each failure
 */
export function releaseAll(
  store: Store,
  all: readonly OwnedReservation[],
  released: readonly OwnedReservation[],
): void {
  const kept = new Set(all);
  const failures: string[] = [];
  for (const reservation of released) {
    try {
      store.release(reservation);
      kept.delete(reservation);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      failures.push(error.message);
    }
  }
  noteKept(store, kept, released);
  if (failures.length > 0) {
    throw new CniError(
      ErrorCode.ioFailure,
      `failed to release ${failures.length} of ${released.length} addresses`,
      failures.join("; "),
    );
  }
}

/**
 * Removes the reservations that meet a condition. Must run under the lock.
 *
 * @param condition checks one again, as it is now
 * @returns the names of the removed reservations
 * @throws CniError 5 as `releaseAll`
 */
export function releaseWhere(
  store: Store,
  condition: (reservation: OwnedReservation) => boolean,
): readonly string[] {
  const all = store.allOwned();
  const released = all.filter(condition);
  releaseAll(store, all, released);
  return released.map(({ name }) => name);
}

/** Records in the index what the owners of the released reservations still hold. */
function noteKept(
  store: Store,
  kept: ReadonlySet<OwnedReservation>,
  released: readonly OwnedReservation[],
): void {
  const names = new Map<EntryName, string[]>();
  for (const { owner } of released) {
    const entry = entryOf(owner);
    if (entry !== undefined) names.set(entry, []);
  }
  for (const { name, owner } of kept) {
    const entry = entryOf(owner);
    if (entry !== undefined) names.get(entry)?.push(name);
  }
  for (const [entry, held] of names) store.note(entry, held);
}

/**
 * Runs a release; a failed system call becomes an I/O error (code 5), so that the runtime tries again.
 *
 * @throws CniError 5
 */
export function reportingIoFailure(release: () => void): void {
  try {
    release();
  } catch (error) {
    throw isSystemError(error) ? new CniError(ErrorCode.ioFailure, error.message) : error;
  }
}
