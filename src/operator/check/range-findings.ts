/** Findings on range sets that are full, or nearly so, and on addresses that are reserved outside of them. */

import { messageWithDetails } from "../../cni/error.ts";
import { formatAddresses } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatReservedFor } from "../../ipam/exclusions.ts";
import { formatRangeSet } from "../../ipam/range-set.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { NEARLY_FULL, permille, reservedIn } from "../judgements/usage.ts";
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
    const { source = "", shadowedBy } = network;
    if (shadowedBy !== undefined) return [];
    const about = { network: files.network, path: source, commands };
    const { sets } = node.nextAddIn(directory, network);
    return sets.flatMap(({ kind, ranges: set, counts, error }): readonly Finding[] => {
      // From what the bridge plugin refuses no pod gets an address: that is a finding of its own.
      if (kind === "refused") return [];
      if (kind === "empty") {
        if (error === undefined) return [];
        // In the words of ADD.
        const message = messageWithDetails(error);
        return [{ code: "range-empty", network: files.network, path: source, message }];
      }
      const { used, capacity, free } = counts;
      const isFull = kind === "full";
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
      const isDeadKnown = node.takenIn(directory).all !== undefined;
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
