import { formatAddress } from "../../ipam/address.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import type { Node } from "../node.ts";

/** The JSON form of reservations. */
export function describeReservations(
  { cache }: Pick<Node, "cache">,
  known: readonly KnownReservation[],
): readonly object[] {
  return known.map((judged) => describe(judged, cache.podOf(judged.reservation)));
}

/** @param pod as `namespace/name`; empty if it is not known */
function describe(
  { reservation, conclusion: { liveness, reason }, isBeforeBoot }: KnownReservation,
  pod: string,
): object {
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
