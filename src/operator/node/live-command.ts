/** Which command prints the ids of live containers, by the runtime that uses a network. */

import type { FoundNetwork } from "./networks.ts";
import { containerOf, type NodeReservation } from "./node-reservations.ts";

/** The ids that nerdctl and `ctr run --cni` use in CNI calls: containerd's namespace and the container's id. */
const NAMESPACED_ID = /^([A-Za-z][\w.-]*)-[0-9a-f]{64}$/;

/**
 * A shell command that prints the ids that the runtime of a network uses in CNI calls: podman's by the names of its
 * configuration and bridge, that of nerdctl and ctr by theirs and by the form of the ids, otherwise that of the CRI.
 *
 * @param reservations of the network
 */
export function liveCommandOf(
  { source = "", bridge }: Pick<FoundNetwork, "source" | "bridge">,
  reservations: readonly NodeReservation[],
): string {
  const file = source.slice(source.lastIndexOf("/") + 1);
  const isOf = (runtime: string, directory: string): boolean =>
    file.includes(runtime) || source.includes(directory) || bridge?.name.includes(runtime) === true;
  if (isOf("podman", "/containers/")) return "podman ps -aq --no-trunc";
  for (const { owner } of reservations) {
    const [, namespace] = NAMESPACED_ID.exec(containerOf(owner)) ?? [];
    if (namespace !== undefined) return namespacedListOf(namespace);
  }
  return isOf("nerdctl", "/nerdctl/") ? namespacedListOf("default") : "crictl pods -q";
}

/**
 * The containers of a containerd namespace, in the form of the ids in CNI calls.
 *
 * @param namespace such as `default`
 */
export function namespacedListOf(namespace: string): string {
  return `ctr -n ${namespace} containers ls -q | sed s/^/${namespace}-/`;
}
