/** Who holds a reservation, as messages name it: the pod first, where it is known. */

import { containerOf } from "../../store/reservations/owner.ts";
import type { ResultsCache } from "../alive/cache/results-cache.ts";
import type { NodeReservation } from "../held/network-directory.ts";

/** Describes the holder of a reservation, such as `default/web (container 4f1d6e0c8b7a)`. */
export function describeHolder(
  { cache }: { readonly cache: ResultsCache },
  reservation: NodeReservation,
): string {
  const containerId = containerOf(reservation.owner);
  if (containerId === "") return "no container";
  return describeContainer({ pod: cache.podOf(reservation), containerId });
}

/** Describes a container, such as `default/web (container 4f1d6e0c8b7a)`. */
export function describeContainer({
  pod,
  containerId,
}: {
  readonly pod: string;
  readonly containerId: string;
}): string {
  return pod === "" ? `container ${containerId}` : `${pod} (container ${containerId})`;
}
