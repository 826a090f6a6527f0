/** Releasing reservations that were chosen without the lock, if they are unchanged. */

import type { Context } from "../../cli/command/command.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import { DEFAULT_HISTORY_BYTES } from "../../ipam/config.ts";
import { type HistoryCall, hasHistory } from "../../store/history/history-file.ts";
import type { HistoryVerb } from "../../store/history/history-record.ts";
import { withLock } from "../../store/lock.ts";
import { releaseAll } from "../../store/release.ts";
import { isSameOwner } from "../../store/reservations/owner.ts";
import { isSystemError } from "../../system/system.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NetworkDirectory, NodeReservation } from "./network-directory.ts";

/**
 * Releases those reservations of one network, under its lock, whose files are the ones that were read, with the same owner. No
 * other file is opened while the lock is held, where the journal is current.
 *
 * @param verb for the history
 * @param before what else is done under the lock
 * @returns those that are released
 * @throws CniError as `withLock`, and 5 as `releaseAll`
 * @throws SystemError where the directory cannot be read
 */
export function releaseIn(
  { files, networks: [network] }: NetworkDirectory,
  verb: HistoryVerb,
  reservations: readonly NodeReservation[],
  before: () => void = () => {},
): readonly NodeReservation[] {
  const history = historyCall(network, verb);
  const request = { timeoutSeconds: network.lockTimeoutSeconds, history };
  return withLock(files, request, (locked) => {
    before();
    const unchanged = reservations.filter(isUnchanged);
    releaseAll(locked, unchanged);
    return unchanged;
  });
}

/**
 * Releases as `releaseIn` does; an error is only logged, so that the other networks are still processed.
 *
 * @returns those that are gone
 */
export function releaseOrLog(
  { log }: Context,
  ...request: Parameters<typeof releaseIn>
): readonly NodeReservation[] {
  const [directory, , reservations] = request;
  try {
    return releaseIn(...request);
  } catch (error) {
    if (!(error instanceof CniError || isSystemError(error))) throw error;
    log(`${directory.files.network}: ${messageWithDetails(error)}`);
    return reservations.filter((reservation) => directory.read(reservation.name) === undefined);
  }
}

/** Whether a reservation's file is the one that was read, and was not written since. */
function isUnchanged({ owner, status, network, name }: NodeReservation): boolean {
  const now = network.read(name);
  return now?.status !== undefined && isSameOwner(now.owner, owner) && now.status.id === status?.id;
}

/** How the history describes this command; `undefined` if the network has none: neither configured nor on disk. */
function historyCall(
  { files, historyBytes }: Pick<FoundNetwork, "files" | "historyBytes">,
  verb: HistoryVerb,
): HistoryCall | undefined {
  if (historyBytes === undefined && !hasHistory(files)) return undefined;
  return { maxBytes: historyBytes ?? DEFAULT_HISTORY_BYTES, verb, pod: "" };
}
