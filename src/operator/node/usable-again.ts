/** Addresses that are reserved or free, but not as others: from before this boot, or released lately. */

import { namesBeforeBoot } from "../../store/journal/earlier-boots.ts";
import type { Reservation } from "../../store/reservations/reservation-file.ts";
import { readCooldown } from "../../store/reuse/cooldown.ts";
import type { FoundNetwork } from "./networks.ts";

/** The reservations of a network that count as used: without those from before this boot, unless they are to stay. */
export function usedOf<T extends Pick<Reservation, "name">>(
  { location, reclaimsAfterReboot }: FoundNetwork,
  reservations: readonly T[],
): readonly T[] {
  const earlier = reclaimsAfterReboot ? namesBeforeBoot(location) : new Set();
  return earlier.size === 0 ? reservations : reservations.filter(({ name }) => !earlier.has(name));
}

/** The number of free addresses that were released lately, and are avoided by `reuseDelaySeconds`. */
export function countCooling(
  { location, reuseDelaySeconds }: FoundNetwork,
  reservations: readonly Pick<Reservation, "name">[],
): number {
  if (reuseDelaySeconds === 0) return 0;
  const cooling = new Set(readCooldown(location, reuseDelaySeconds).ages.keys());
  for (const { name } of reservations) cooling.delete(name);
  return cooling.size;
}
