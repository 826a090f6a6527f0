import { lastCollection } from "../../store/last-collection.ts";
import { ownerText } from "../../store/owner.ts";
import { readSeenDead } from "../../store/seen-dead.ts";
import type { System } from "../../system/system.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import type { LivenessChecker } from "../node/liveness.ts";

/**
 * Counts the reservations of dead containers: their network namespace is gone, or `gc` found them dead and has not released
 * them, and nothing on the node shows that they live.
 *
 * @returns `undefined` where nothing is known: neither has `gc` run, nor is it known of any reservation
 */
export function countDead(
  system: System,
  { livenessOf }: LivenessChecker,
  { directory: { location }, reservations }: DirectoryContents,
): number | undefined {
  const seenDead = new Map(readSeenDead(system, location).map(({ name, owner }) => [name, owner]));
  const livenesses = reservations.map((reservation) => {
    const owner = ownerText(reservation.owner);
    if (owner === undefined) return "unknown";
    const { liveness } = livenessOf(reservation);
    return liveness === "unknown" && seenDead.get(reservation.name) === owner ? "dead" : liveness;
  });
  const isKnown =
    reservations.length === 0 ||
    livenesses.some((liveness) => liveness !== "unknown") ||
    lastCollection(system, location) !== undefined;
  return isKnown ? livenesses.filter((liveness) => liveness === "dead").length : undefined;
}
