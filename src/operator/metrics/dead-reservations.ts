import { keyOfOwner } from "../../store/reservations/owner.ts";
import { mayBeDead } from "../gc/decision.ts";
import { lastCollection } from "../gc/last-collection.ts";
import { readSeenDead } from "../gc/seen-dead.ts";
import type { LivenessChecker } from "../node/liveness.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";

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
  const seenDead = new Map(readSeenDead(files).map(({ name, owner }) => [name, owner]));
  const livenesses = [...checker.livenessOfAll(reservations)].flatMap(
    ([reservation, conclusion]) => {
      const owner = keyOfOwner(reservation.owner);
      if (owner === undefined) return [];
      const isCertain = conclusion.liveness === "dead" || !mayBeDead(conclusion);
      return !isCertain && seenDead.get(reservation.name) === owner ? "dead" : conclusion.liveness;
    },
  );
  const count = livenesses.filter((liveness) => liveness === "dead").length;
  const isCertain = !livenesses.includes("unknown") || lastCollection(files) !== undefined;
  return count > 0 || isCertain ? count : undefined;
}
