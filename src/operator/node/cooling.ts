import type { Reservation } from "../../store/reservations/reservation-file.ts";
import { readCooldown } from "../../store/reuse/cooldown.ts";
import type { FoundNetwork } from "./networks.ts";

/** The number of free addresses that were released lately, and are avoided by `reuseDelaySeconds`. */
export function countCooling(
  { files, reuseDelaySeconds }: FoundNetwork,
  reservations: readonly Pick<Reservation, "name">[],
): number {
  if (reuseDelaySeconds === 0) return 0;
  const cooling = new Set(readCooldown(files, reuseDelaySeconds).ages.keys());
  for (const { name } of reservations) cooling.delete(name);
  return cooling.size;
}
