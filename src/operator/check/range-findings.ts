/** Findings on range sets that are full, or nearly so. */

import type { Context } from "../../cli/command/command.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatRangeSet } from "../../ipam/range-set.ts";
import { addUp, countRanges, NEARLY_FULL, permille } from "../capacity/capacity-count.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import { commandText } from "../node/next-command.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks every range set of a network: a pod needs an address of each. The ranges of a set are counted together: a pod gets
 * an address of any of them.
 */
export function rangeFindings(context: Context, directory: NetworkDirectory): readonly Finding[] {
  const { files } = directory;
  const commands = [commandText(context, files, ["gc", files.network])];
  return directory.networks.flatMap((network) => {
    const { source = "", rangeSets, exclusions } = network;
    const inUse = directory.usedIn(network);
    const about = { network: files.network, path: source, commands };
    return rangeSets.flatMap((set): readonly Finding[] => {
      const counts = addUp(countRanges([set], exclusions, inUse, []));
      const share = permille(counts) ?? 1000;
      if (share < NEARLY_FULL) return [];
      const { used, capacity, free } = counts;
      const usage = `${used} of ${decimal(capacity)} addresses of ${formatRangeSet(set)} are reserved`;
      return free === 0n
        ? [{ ...about, code: "range-full", message: `${usage}: the next pod gets none` }]
        : [{ ...about, code: "range-nearly-full", message: `${usage}: ${decimal(free)} left` }];
    });
  });
}
