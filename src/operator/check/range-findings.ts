/** Findings on range sets that are full, or nearly so, on broadcast addresses in them, and on addresses reserved outside of them. */

import { plural } from "../../cli/output/plural.ts";
import { formatAddress, formatAddresses, formatAddressRange, isSame } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatReservedFor, isExcluded } from "../../ipam/exclusions.ts";
import { isGateway, type Range } from "../../ipam/range.ts";
import { formatRangeSet, rangeOf } from "../../ipam/range-set.ts";
import { hasNoProcess } from "../../store/life/conclusion.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { broadcastOf } from "../judgements/bridge-plugin.ts";
import { countWithoutProcess } from "../judgements/leaks.ts";
import { NEARLY_FULL, permille, reservedIn } from "../judgements/usage.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** The remedy where all that hold addresses of a range are known to live. */
const ALL_LIVE =
  "the range is too small for the pods of this node: give the node more addresses, as the page 'Give a node more addresses' of the documentation says, or allow fewer pods after draining it";

/**
 * Checks every range set of a network: a pod needs an address of each. The ranges of a set are counted together: a pod gets
 * an address of any of them.
 */
export function rangeFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const { files } = directory;
  const commands: Finding["commands"] = [{ files, words: ["gc", files.network] }];
  return directory.networks.flatMap((network) => {
    const { source = "" } = network;
    const about = { network: files.network, path: source, commands };
    const { sets } = node.nextAddIn(directory, network);
    return sets.flatMap(({ kind, ranges: set, counts }): readonly Finding[] => {
      const { used, capacity, free } = counts;
      // The dry run finds that every ADD fails. Or every address is some pod's own, so that none can be missing.
      if (kind === "empty" || capacity === 0n) return [];
      const isFull = kind === "full";
      if (!isFull && (permille(counts) ?? 0) < NEARLY_FULL) return [];
      const isDeadKnown = node.takenIn(directory) !== undefined;
      const unless = isDeadKnown ? "" : ", unless it can take one of a dead pod: run check as root";
      const left = isFull ? `the next pod gets none${unless}` : `${decimal(free)} left`;
      const holders = holdersIn(node, directory, set);
      const message = `${used} of ${decimal(capacity)} addresses of ${formatRangeSet(set)} are in use: ${left}${holders.text}`;
      const code = isFull ? "range-full" : "range-nearly-full";
      return [{ ...about, code, message, ...holders.advice }];
    });
  });
}

/**
 * The text and the advice on the holders of the addresses of a set: all live, so that nothing is to be released; or some live
 * without a process, and need not.
 */
function holdersIn(
  { facts, liveness }: Node,
  directory: NetworkDirectory,
  set: readonly Range[],
): { readonly text: string; readonly advice: Pick<Finding, "remedy" | "commands"> } {
  const here = liveness
    .livenessIn(directory)
    .filter(({ reservation: { address } }) => rangeOf(set, address) !== undefined);
  const count = plural(here.length, "holder");
  if (here.every(({ conclusion }) => conclusion.liveness === "alive" && !hasNoProcess(conclusion)))
    return {
      text: `; all ${here.length} are of living containers`,
      advice: { remedy: ALL_LIVE, commands: [] },
    };
  // If a process may be unseen, each container may run one.
  const isSeen = facts.namespaces().incomplete === undefined;
  const idle = isSeen ? countWithoutProcess(here, facts.now()) : 0;
  if (idle === 0) return { text: "", advice: {} };
  const text = `; ${idle} of ${count} run no process: as a rule, their DEL fails, see "failed (delete)" in the runtime's log`;
  const remedy =
    "see what fails the DELs, as the section 'A DEL fails' of the documentation says: once it is fixed, the addresses come back. A container that is to be started again runs no process, either: if that is all, give the node more addresses";
  return { text, advice: { remedy } };
}

/**
 * Ranges that hand out the broadcast address of their subnet, as the Go plugin does, too: only an explicit `rangeEnd` takes it in.
 * What the node and other pods send to it are broadcasts, which the kernel allows no connection for.
 */
export function broadcastFindings(
  _node: Node,
  { networks, files }: NetworkDirectory,
): readonly Finding[] {
  return networks.flatMap(({ source = "", rangeSets, exclusions }) =>
    rangeSets.flat().flatMap((range): readonly Finding[] => {
      const { last } = range;
      const broadcast = broadcastOf(range);
      if (broadcast === undefined || !isSame(last, broadcast)) return [];
      if (isGateway(last, range) || isExcluded(last, exclusions)) return [];
      return [
        {
          code: "broadcast-address",
          network: files.network,
          path: source,
          message: `${formatAddress(last)}, which the range ${formatAddressRange(range)} hands out, is the broadcast address of its subnet: nobody there reaches the pod that gets it`,
        },
      ];
    }),
  );
}

/**
 * Addresses that are reserved for a pod, or for nobody, and that nobody could ever get: the pod gets another one. They may be
 * those of another node.
 */
export function reservedFindings(
  _node: Node,
  { networks, files, hasKnownRanges }: NetworkDirectory,
): readonly Finding[] {
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
