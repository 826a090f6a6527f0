/** The addresses of a range set that an ADD may get, in the order in which it tries them. */

import { type Address, parseAddress } from "../ipam/address.ts";
import type { Exclusions } from "../ipam/exclusions.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import type { Candidate } from "../ipam/round-robin.ts";
import { candidatesInOrder } from "./candidate-order.ts";
import type { NetworkFiles } from "./files/network-files.ts";
import type { AddressUse, AddressUser } from "./namespaces/address-use.ts";
import type { Reservation, ReservationFile } from "./reservations/reservation-file.ts";
import { candidateAt, removableAt } from "./reservations/usage.ts";
import type { Preferences } from "./reuse/reuse.ts";

/**
 * An address that an ADD may get: one that may be free, that of a dead container, or that of an empty file; the last two once
 * their reservation is removed.
 */
export type Obtainable =
  | { readonly kind: "free"; readonly candidate: Candidate }
  | { readonly kind: "dead"; readonly candidate: Candidate; readonly dead: ReservationFile }
  | { readonly kind: "empty"; readonly candidate: Candidate; readonly name: string };

/** An address that an ADD may not get although nothing reserves it: it is in use. */
interface Used {
  readonly kind: "used";
  readonly candidate: Candidate;
  readonly user: AddressUser;
}

/** What an ADD asks of a range set. */
interface SetRequest {
  readonly set: RangeSet;
  /** The exclusions for the pod. */
  readonly exclusions: Exclusions;
  /** The address after which to begin. */
  readonly cursor: Address | undefined;
  readonly preferences: Preferences;
  /** Whether the reservations of dead containers are reclaimed where no other address will do. */
  readonly reclaims: boolean;
}

/** What others have, and what may be taken from them; each is looked for when it is asked for. */
export interface Taken {
  /** The addresses in use. */
  readonly use: AddressUse;
  /** The reservations of dead containers, as `ReservationStates.reclaimable` finds them. */
  readonly reclaimable: <T>(
    wantedBy: (name: string) => T | undefined,
  ) => Iterable<{ readonly dead: ReservationFile; readonly wanted: T }>;
  /** The reservations of no usual form, as of `othersIn`. */
  readonly unusual: () => readonly Reservation[];
}

/**
 * Gives the candidates that an ADD tries for an address of a range set: what may be free, then the addresses of dead
 * containers, the oldest reservation first, then those of empty files, which no DEL could ever release, and which are found
 * only by reading all files. No address that is in use is among them; of those that nothing reserves it tells.
 */
export function* obtainableInOrder(
  files: NetworkFiles,
  { set, exclusions, cursor, preferences, reclaims }: SetRequest,
  taken: Taken,
): Generator<Obtainable | Used, void> {
  for (const candidate of candidatesInOrder(files, set, exclusions, cursor, preferences)) {
    const user = taken.use.userOf(candidate.address);
    if (user === undefined) yield { kind: "free", candidate };
    else if (!taken.use.isReserved(candidate.address)) yield { kind: "used", candidate, user };
  }
  if (reclaims) {
    const usable = (name: string): Candidate | undefined =>
      candidateAt(parseAddress(name), set, exclusions);
    for (const { dead, wanted } of taken.reclaimable(usable)) {
      yield { kind: "dead", candidate: wanted, dead };
    }
  }
  for (const reservation of taken.unusual()) {
    const candidate = removableAt(files, { set, exclusions }, reservation);
    if (candidate === undefined || taken.use.userOf(candidate.address) !== undefined) continue;
    yield { kind: "empty", candidate, name: reservation.name };
  }
}
