/** What an operator runs next when a range set has no free address. */

import type { AttachmentCall } from "../cni/call.ts";
import { CONTAINERD_LIST } from "../cni/containerd-list.ts";
import { podIn } from "../cni/pod.ts";
import { DEFAULT_DATA_DIR } from "../ipam/config.ts";
import type { Exclusions } from "../ipam/exclusions.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import { capacityOf } from "../ipam/round-robin.ts";
import type { NetworkFiles } from "../store/files/network-files.ts";

/** A range set without a free address. */
interface ExhaustedSet {
  readonly set: RangeSet;
  readonly exclusions: Exclusions;
}

/** Whether a range set has no address that may be handed out, used or not. */
export function isEmptySet({ set, exclusions }: ExhaustedSet): boolean {
  return set.every((range) => capacityOf(range, exclusions) === 0n);
}

/**
 * What helps where a range set has no free address: another configuration if it can have none, else the commands that show who holds the addresses, and which holders are dead. They are complete: they name the data
 * directory if it is not the default, and the list of the runtime that made the call if it can be known.
 *
 * @param call `undefined` in STATUS, which names no container
 */
export function exhaustionAdvice(
  { network, dataDir }: Pick<NetworkFiles, "network" | "dataDir">,
  call: AttachmentCall | undefined,
  exhausted: ExhaustedSet,
): string {
  if (isEmptySet(exhausted)) {
    return exhausted.exclusions.length > 0
      ? "ipam.exclude leaves no address to hand out; correct it"
      : "the range has no address but the gateway's; correct it";
  }
  const where = dataDir === DEFAULT_DATA_DIR ? "" : ` --data-dir ${quoted(dataDir)}`;
  const list = call === undefined ? undefined : liveList(call);
  const source = list === undefined ? "" : ` --live-command '${list}'`;
  return `Next: host-local list ${network}${where} names the holders, host-local gc ${network}${where}${source} those that are dead; if all are alive, the range is too small`;
}

/**
 * The command that lists the ids of all containers of the calling runtime. Only Kubernetes passes the namespace of a pod;
 * podman passes the container's name alone, or in place of the namespace, too. `ctr` and nerdctl pass no arguments, and
 * `NAMESPACE-ID` as the id.
 */
function liveList({ attachment, arguments: text }: AttachmentCall): string | undefined {
  const { name, namespace } = podIn(text);
  if (name !== "") {
    return namespace === "" || namespace === name ? "podman ps -aq --no-trunc" : "crictl pods -q";
  }
  const isNamespaced = /^(?!cnitool-|[0-9a-f]{8}-[0-9a-f]{4}-)[\w.]+-/.test(attachment.containerId);
  return isNamespaced ? CONTAINERD_LIST : undefined;
}

/** A path as one word for a shell. */
function quoted(path: string): string {
  return /^[\w.:/,@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
