import type { Context } from "../../cli/command/command.ts";
import { CniError, messageWithDetails } from "../../cni/error.ts";
import type { HistoryVerb } from "../../store/history/history-record.ts";
import { withLock } from "../../store/lock.ts";
import type { LockedNetwork } from "../../store/locked-network.ts";
import { isSystemError } from "../../system/system.ts";
import { historyCall } from "./history-call.ts";
import type { NetworkDirectory, NodeReservation } from "./network-directory.ts";
import { releaseUnchanged } from "./release-unchanged.ts";

/**
 * Releases reservations of one network under its lock, if they are unchanged.
 *
 * @param verb for the history
 * @param before what else is done under the lock
 * @returns those that are released
 * @throws CniError as `withLock` and `releaseUnchanged`
 * @throws SystemError as `releaseUnchanged`
 */
export function releaseIn(
  { system }: Context,
  { files, networks: [network] }: NetworkDirectory,
  verb: HistoryVerb,
  reservations: readonly NodeReservation[],
  before: (locked: LockedNetwork) => void = () => {},
): readonly NodeReservation[] {
  const history = historyCall(system, network, verb);
  const request = { timeoutSeconds: network.lockTimeoutSeconds, history };
  return withLock(files, request, (locked) => {
    before(locked);
    return releaseUnchanged(locked, reservations);
  });
}

/**
 * The same; an error is only logged, so that the other networks are still processed.
 *
 * @returns those that are gone
 */
export function releaseOrLog(...request: Parameters<typeof releaseIn>): readonly NodeReservation[] {
  const [{ log }, directory, , reservations] = request;
  try {
    return releaseIn(...request);
  } catch (error) {
    if (!(error instanceof CniError || isSystemError(error))) throw error;
    log(`${directory.files.network}: ${messageWithDetails(error)}`);
    return reservations.filter((one) => directory.read(one) === undefined);
  }
}
