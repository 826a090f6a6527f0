/** What an operator runs next when a range set has no free address. */

import type { PodName } from "../cni/pod.ts";
import { DEFAULT_DATA_DIR } from "../ipam/config.ts";
import type { Excluded } from "../ipam/exclusions.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import { isEmptySet } from "../ipam/round-robin.ts";
import type { NetworkFiles } from "../store/files/network-files.ts";

/** A range set without a free address. */
interface ExhaustedSet extends Excluded {
  readonly set: RangeSet;
  /** The pod for which the whole set is reserved. */
  readonly pod?: PodName | undefined;
}

/**
 * What helps where a range set has no free address: another configuration if it can have none, else the commands that show
 * who holds the addresses, and which holders are dead. They name the data directory if it is not the default. The list of
 * the runtime is not among them: the kernel decides most, and `gc` names a list that this node has where it does not.
 */
export function exhaustionAdvice(
  { network, dataDir }: Pick<NetworkFiles, "network" | "dataDir">,
  exhausted: ExhaustedSet,
): string {
  if (isEmptySet(exhausted.set, exhausted.exclusions)) {
    if (exhausted.reserved.length > 0) {
      return "ipam.exclude and ipam.reserved leave no address to hand out; correct them";
    }
    return exhausted.exclusions.length > 0
      ? "ipam.exclude leaves no address to hand out; correct it"
      : "the range has no address but the gateway's; correct it";
  }
  const where = dataDir === DEFAULT_DATA_DIR ? "" : ` --data-dir ${quoted(dataDir)}`;
  const next = `Next: run \`host-local list ${network}${where}\` to see the holders and \`host-local gc ${network}${where}\` to find dead ones; if all are alive, `;
  return exhausted.pod === undefined
    ? `${next}the range is too small`
    : `${exhausted.pod} gets no other address of this range set (ipam.reserved). ${next}it waits for the end of the one that has its address`;
}

/** A path as one word for a shell. */
function quoted(path: string): string {
  return /^[\w.:/,@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
