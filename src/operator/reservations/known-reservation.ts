import { formatAddress } from "../../ipam/address.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import type { ConcludedReservation } from "../node/liveness.ts";
import type { NodeReservation } from "../node/network-directory.ts";
import type { Node } from "../node/node.ts";

/** A reservation with what else is known of it. */
export interface KnownReservation extends ConcludedReservation {
  /** `namespace/name`; empty if it is not known. */
  readonly pod: string;
  /** Once something has been released, this is not known any more. */
  readonly isBeforeBoot: boolean;
}

/** What is known of reservations. */
export function knownReservations(
  { cache, liveness }: Node,
  reservations: readonly NodeReservation[],
): readonly KnownReservation[] {
  return liveness.livenessOfAll(reservations).map((one) => ({
    ...one,
    pod: cache.podOf(one.reservation),
    isBeforeBoot: one.reservation.isBeforeBoot,
  }));
}

/** The JSON form of a reservation. */
export function describeReservation({
  reservation,
  pod,
  conclusion: { liveness, reason },
  isBeforeBoot,
}: KnownReservation): object {
  const { network, text, owner, since, range, path } = reservation;
  return {
    network: network.files.network,
    address: text,
    container: containerOf(owner),
    interface: interfaceOf(owner),
    pod,
    owner: owner.kind,
    since: since === undefined ? null : new Date(since).toISOString(),
    beforeBoot: isBeforeBoot,
    alive: liveness === "unknown" ? null : liveness === "alive",
    reason,
    range:
      range === undefined
        ? null
        : { first: formatAddress(range.first), last: formatAddress(range.last) },
    path,
  };
}
