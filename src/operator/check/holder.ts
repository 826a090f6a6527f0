/** Who has or holds an address, as messages name it: the pod first, where it is known. */

import { containerOf } from "../../store/reservations/owner.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { ResultsCache } from "../alive/cache/results-cache.ts";
import type { NodeReservation } from "../held/network-directory.ts";
import type { Place } from "../judgements/places.ts";

/** How many pods a message names. */
const MAX_NAMED = 10;

/** A container, and its pod as far as that is known. */
type Container = Pick<CachedAttachment, "containerId" | "pod">;

/** Describes the holder of a reservation, such as `default/web (container 4f1d6e0c8b7a)`. */
export function describeHolder(
  { cache }: { readonly cache: Pick<ResultsCache, "podOf"> },
  reservation: NodeReservation,
): string {
  const containerId = containerOf(reservation.owner);
  if (containerId === "") return "no container";
  return describeContainer({ pod: cache.podOf(reservation), containerId });
}

/** Describes a container, such as `default/web (container 4f1d6e0c8b7a)`. */
export function describeContainer({ pod, containerId }: Container): string {
  return pod === "" ? `container ${containerId}` : `${pod} (container ${containerId})`;
}

/** Where an address is in use, such as `by default/web (container 4f1d6e0c8b7a)`. */
export function describePlace({ container, where }: Place): string {
  return container === undefined ? `in ${where}` : `by ${describeContainer(container)}`;
}

/** The name of a container for whoever is to restart it, such as `default/web`. */
export function podOrContainer({ pod, containerId }: Container): string {
  return pod === "" ? `container ${containerId}` : pod;
}

/** The name of the holder of a reservation, such as `default/web`. */
export function podOrHolder(
  { cache }: { readonly cache: Pick<ResultsCache, "podOf"> },
  reservation: NodeReservation,
): string {
  return cache.podOf(reservation) || describeHolder({ cache }, reservation);
}

/** The names of the first of some pods, and how many more there are. */
export function namedPods(pods: readonly string[]): string {
  const more = pods.length > MAX_NAMED ? ` and ${pods.length - MAX_NAMED} more` : "";
  return `${pods.slice(0, MAX_NAMED).join(", ")}${more}`;
}
