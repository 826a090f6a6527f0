/** Which reservations an ADD takes where no other address is free, by the code with which it does. */

import { parseAddress } from "../../ipam/address.ts";
import type { ReservationStates } from "../../store/journal/reservation-states.ts";
import type { AddressUse } from "../../store/namespaces/address-use.ts";

/** The names of reservations that an ADD takes. */
export interface TakenByAdd {
  /** The names of those from before this boot, with those whose addresses are in use. */
  readonly beforeBoot: ReadonlySet<string>;
  /** The names of those of dead pods of this boot; `undefined` where that cannot be read. */
  readonly ofDead: ReadonlySet<string> | undefined;
  /** The names of all that it takes. */
  readonly all: ReadonlySet<string> | undefined;
}

/**
 * @param beforeBoot the names of the reservations from before this boot
 * @param journal of the network; `undefined` where the plugin takes it for none
 */
export function takenByAdd(
  beforeBoot: ReadonlySet<string>,
  journal: ReservationStates | undefined,
  use: AddressUse,
): TakenByAdd {
  if (journal === undefined || journal.isUnread) {
    return { beforeBoot, ofDead: undefined, all: undefined };
  }
  const wanted = (name: string): string | undefined => (beforeBoot.has(name) ? undefined : name);
  const ofDead = new Set([...journal.reclaimable(wanted, use)].map((taken) => taken.wanted));
  const before = [...beforeBoot].filter((name) => {
    const address = parseAddress(name);
    return address !== undefined && use.whyKept(address) === undefined;
  });
  return { beforeBoot, ofDead, all: new Set([...ofDead, ...before]) };
}
