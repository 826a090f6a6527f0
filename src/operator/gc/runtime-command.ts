/** Which command prints the ids of live containers, by the runtime that uses a network. */

import { containerOf } from "../../store/reservations/owner.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { NodeReservation } from "../held/network-directory.ts";

/** The ids that nerdctl and `ctr run --cni` use in CNI calls: containerd's namespace and the container's id. */
const NAMESPACED_ID = /^[A-Za-z][\w.-]*-[0-9a-f]{64}$/;

/** The ids of sandboxes that the runtimes of Kubernetes make. */
const SANDBOX_ID = /^[0-9a-f]{64}$/;

const CRI_LIST = "crictl pods -q";

/**
 * The ids as `ctr` and nerdctl use them in CNI calls, of all namespaces of containerd: a list of one namespace would lack the
 * living containers of the others. It fails if any part of it does.
 */
export const CONTAINERD_LIST =
  'ns=$(ctr namespaces ls -q) && for n in $ns; do c=$(ctr -n "$n" containers ls -q) || exit; test -z "$c" || echo "$c" | sed "s/^/$n-/"; done';

/**
 * Whether an id has the form of those that runtimes make.
 *
 * @example isOfRuntime("cilium-ingress-node1"); // false
 */
export function isOfRuntime(containerId: string): boolean {
  return SANDBOX_ID.test(containerId) || NAMESPACED_ID.test(containerId);
}

/** The runtime whose own network this is, by the names of its configuration and bridge; `undefined` for any other. */
export function makerOf({
  source = "",
  bridge,
}: Pick<FoundNetwork, "source" | "bridge">): "podman" | "nerdctl" | undefined {
  const file = source.slice(source.lastIndexOf("/") + 1);
  const isOf = (runtime: string, directory: string): boolean =>
    file.includes(runtime) || source.includes(directory) || bridge?.name.includes(runtime) === true;
  if (isOf("podman", "/containers/")) return "podman";
  return isOf("nerdctl", "/nerdctl/") ? "nerdctl" : undefined;
}

/**
 * A shell command that prints the ids that the runtime of a network uses in CNI calls: podman's by the names of its
 * configuration and bridge, that of nerdctl and ctr by theirs and by the form of the ids, that of the CRI by that form. If
 * only some of the ids have the form of nerdctl's, the command lists those of the CRI, too.
 *
 * @param reservations of the network
 * @returns `undefined` where no runtime makes such ids, as those of cnitool: its list would lack them all
 */
export function liveCommandOf(
  network: Pick<FoundNetwork, "source" | "bridge">,
  reservations: readonly NodeReservation[],
): string | undefined {
  const owner = makerOf(network);
  if (owner === "podman") return "podman ps -aq --no-trunc";
  const ids = reservations.map((one) => containerOf(one.owner)).filter((id) => id !== "");
  const isNamespaced = owner === "nerdctl" || ids.some((id) => NAMESPACED_ID.test(id));
  const lists = [
    ...(ids.some((id) => SANDBOX_ID.test(id)) ? [CRI_LIST] : []),
    ...(isNamespaced ? [CONTAINERD_LIST] : []),
  ];
  return lists.length === 0 ? undefined : lists.join(" && ");
}
