/** Which reservations an ADD takes where no other address is free, by the code with which it does. */

import { parseAddress } from "../../ipam/address.ts";
import type { ReservationStates } from "../../store/journal/reservation-states.ts";
import type { AddressUse } from "../../store/namespaces/address-use.ts";

/**
 * The names of the reservations that an ADD takes: of dead pods, and from before this boot.
 *
 * @param beforeBoot the names of those from before this boot
 * @param journal of the network; `undefined` where the plugin takes it for none
 * @returns `undefined` where that cannot be read
 */
export function takenByAdd(
  beforeBoot: ReadonlySet<string>,
  journal: ReservationStates | undefined,
  use: AddressUse,
): ReadonlySet<string> | undefined {
  if (journal === undefined || journal.isUnread) return undefined;
  const wanted = (name: string): string | undefined => (beforeBoot.has(name) ? undefined : name);
  const ofDead = [...journal.reclaimable(wanted, use)].map((taken) => taken.wanted);
  const before = [...beforeBoot].filter((name) => {
    const address = parseAddress(name);
    return address !== undefined && use.whyKept(address) === undefined;
  });
  return new Set([...ofDead, ...before]);
}
