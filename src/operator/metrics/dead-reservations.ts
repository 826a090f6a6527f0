import { keyOfOwner } from "../../store/reservations/owner.ts";
import { lastCollection } from "../gc/last-collection.ts";
import { readSeenDead } from "../gc/seen-dead.ts";
import { type LivenessChecker, livenessOfAll } from "../node/liveness.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";

/**
 * Counts the reservations of dead containers: their network namespace is gone, or `gc` found them dead and has not released
 * them, and nothing on the node shows that they live.
 *
 * @returns `undefined` instead of 0 where some may be dead: `gc` has not run, and of some it is not known
 */
export function countDead(
  checker: LivenessChecker,
  { files, reservations }: NetworkDirectory,
): number | undefined {
  const seenDead = new Map(readSeenDead(files).map(({ name, owner }) => [name, owner]));
  const results = [...livenessOfAll(reservations, checker)];
  const livenesses = results.flatMap(([reservation, { liveness }]) => {
    const owner = keyOfOwner(reservation.owner);
    if (owner === undefined) return [];
    return liveness === "unknown" && seenDead.get(reservation.name) === owner ? "dead" : liveness;
  });
  const count = livenesses.filter((liveness) => liveness === "dead").length;
  const isCertain = !livenesses.includes("unknown") || lastCollection(files) !== undefined;
  return count > 0 || isCertain ? count : undefined;
}
