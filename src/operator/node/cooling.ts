import { type Address, parseAddress } from "../../ipam/address.ts";
import type { Reservation } from "../../store/reservations/reservation-file.ts";
import { readCooldown } from "../../store/reuse/cooldown.ts";
import type { FoundNetwork } from "./networks.ts";

/** The free addresses that were released lately, and are avoided by `reuseDelaySeconds`. */
export function coolingAddresses(
  { files, reuseDelaySeconds }: FoundNetwork,
  reservations: readonly Pick<Reservation, "name">[],
): readonly Address[] {
  if (reuseDelaySeconds === 0) return [];
  const cooling = new Set(readCooldown(files, reuseDelaySeconds).ages.keys());
  for (const { name } of reservations) cooling.delete(name);
  return [...cooling].flatMap((name) => parseAddress(name) ?? []);
}
