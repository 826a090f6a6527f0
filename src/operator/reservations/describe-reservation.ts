import { timeText } from "../../cli/output/time.ts";
import { formatAddress } from "../../ipam/address.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import type { Node } from "../node.ts";

/** The JSON form of a reservation. */
export function describeReservation(
  { cache }: Pick<Node, "cache">,
  { reservation, conclusion: { liveness, reason } }: KnownReservation,
): object {
  const { network, text, owner, since, range, path } = reservation;
  return {
    network: network.files.network,
    address: text,
    container: containerOf(owner),
    interface: interfaceOf(owner),
    pod: cache.podOf(reservation),
    owner: owner.kind,
    since: since === undefined ? null : timeText(since),
    alive: liveness === "unknown" ? null : liveness === "alive",
    reason,
    range:
      range === undefined
        ? null
        : { first: formatAddress(range.first), last: formatAddress(range.last) },
    path,
  };
}
