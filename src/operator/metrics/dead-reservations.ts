import { containerOf } from "../../store/reservations/owner.ts";
import type { LivenessChecker } from "../alive/liveness.ts";
import { type CollectionRecord, readCollection, seenId } from "../gc/collection-file.ts";
import { mayBeDead } from "../gc/decision.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";

/**
 * Counts the reservations of dead containers: the network namespaces of the node show it, or `gc` found them dead and has
 * not released them, and no more than a mount shows that they live.
 *
 * @returns `undefined` instead of 0 where some may be dead: `gc` has not run, and of some it is not known
 */
export function countDead(
  checker: LivenessChecker,
  { files, reservations }: NetworkDirectory,
): number | undefined {
  let count = 0;
  let isCertain = true;
  let record: CollectionRecord | undefined;
  const isSeenDead = (reservation: NodeReservation): boolean => {
    record ??= readCollection(files);
    return record.seenDead.has(seenId(reservation) ?? "");
  };
  for (const { reservation, conclusion } of checker.livenessOfAll(reservations)) {
    if (containerOf(reservation.owner) === "") continue;
    if (conclusion.liveness === "dead" || (mayBeDead(conclusion) && isSeenDead(reservation))) {
      count++;
    } else if (conclusion.liveness === "unknown") isCertain = false;
  }
  if (count > 0 || isCertain) return count;
  return (record ?? readCollection(files)).lastRun === undefined ? undefined : count;
}
