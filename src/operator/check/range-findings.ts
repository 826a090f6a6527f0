/** Findings on range sets that are full, or nearly so, and on addresses that are reserved outside of them. */

import { messageWithDetails } from "../../cni/error.ts";
import { formatAddresses } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { exclusionsForAll, formatReservedFor } from "../../ipam/exclusions.ts";
import { formatRangeSet, type RangeSet } from "../../ipam/range-set.ts";
import { isEmptySet } from "../../ipam/round-robin.ts";
import { NoAddressError } from "../../store/no-address.ts";
import {
  addUp,
  countRanges,
  NEARLY_FULL,
  permille,
  reservedIn,
  usableSets,
} from "../capacity/capacity-count.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** What is said with `exhaustedStatus`: the leaked addresses that ADD reclaims keep STATUS from failing. */
const STATUS_FAILS = {
  now: "; STATUS fails, too (exhaustedStatus): CRI-O, which waits for it at its start, then never sends the GC that would release what leaked",
  soon: "; once there is none, STATUS fails, too (exhaustedStatus), and CRI-O at its start sends no GC before it is good again",
} as const;

/**
 * Checks every range set of a network: a pod needs an address of each. The ranges of a set are counted together: a pod gets
 * an address of any of them.
 */
export function rangeFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const { files } = directory;
  const commands: Finding["commands"] = [{ files, words: ["gc", files.network] }];
  return directory.networks.flatMap((network) => {
    const { source = "", rangeSets } = network;
    const inUse = node.usedIn(directory, network);
    const about = { network: files.network, path: source, commands };
    const refused = node.refusedIn(network);
    return rangeSets.flatMap((whole, index): readonly Finding[] => {
      // From what the bridge plugin refuses no pod gets an address: that is a finding of its own.
      const [[first, ...rest] = []] = usableSets([whole], refused);
      if (first === undefined) return [];
      const set: RangeSet = [first, ...rest];
      const outlook = node.outlookOf(network);
      const prospect = outlook.kind === "asked" ? outlook.prospects[index] : undefined;
      if (isEmptySet(set, exclusionsForAll(network))) {
        if (!(prospect instanceof NoAddressError)) return [];
        // In the words of ADD.
        const message = messageWithDetails(prospect);
        return [{ code: "range-empty", network: files.network, path: source, message }];
      }
      const counts = addUp(countRanges({ ...network, rangeSets: [set] }, inUse, [], []));
      const { used, capacity, free } = counts;
      const isAsked = prospect !== undefined && set.length === whole.length;
      const isFull = !isAsked ? free === 0n : prospect instanceof NoAddressError;
      if (!isFull && (permille(counts) ?? 1000) < NEARLY_FULL) return [];
      // Every address is some pod's own: there is none that could be missing.
      if (capacity === 0n) return [];
      const { uncertainty } = network;
      const assumed = uncertainty === undefined ? "" : ` (${uncertainty})`;
      const usage = `${used} of ${decimal(capacity)} addresses of ${formatRangeSet(set)}${assumed} are in use`;
      const status = network.failsWhenExhausted ? STATUS_FAILS[isFull ? "now" : "soon"] : "";
      if (!isFull) {
        const message = `${usage}: ${decimal(free)} left${status}`;
        return [{ ...about, code: "range-nearly-full", message }];
      }
      const isDeadKnown = node.liveness.reclaimableIn(directory) !== undefined;
      const unless = isDeadKnown ? "" : ", unless it can take one of a dead pod: run check as root";
      const message = `${usage}: the next pod gets none${unless}${status}`;
      return [{ ...about, code: "range-full", message }];
    });
  });
}

/**
 * Addresses that are reserved for a pod, or for nobody, and that nobody could ever get: the pod gets another one. They may be
 * those of another node.
 */
export function reservedFindings({
  networks,
  files,
  hasKnownRanges,
}: NetworkDirectory): readonly Finding[] {
  if (!hasKnownRanges) return [];
  return networks.flatMap(({ source = "", rangeSets, reserved }) => {
    const ranges = rangeSets.flat().map((range) => ({ ...range, ...range.whole }));
    return reserved
      .filter((entry) => ranges.every((range) => reservedIn(range, [entry]) === 0n))
      .map((entry): Finding => {
        const message = `${formatAddresses(entry)} is reserved for ${formatReservedFor(entry)} (ipam.reserved), but is outside all ranges, or the gateway`;
        const remedy = "correct the configuration";
        return { code: "out-of-range", network: files.network, path: source, message, remedy };
      });
  });
}
