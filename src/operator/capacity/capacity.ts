import { entryOf } from "../../store/owner-index.ts";
import { listReservations, type Reservation } from "../../store/reservations.ts";
import { knownCounts } from "../../store/store.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import {
  distinctDirectories,
  type FoundNetwork,
  findNetworks,
  logProblems,
} from "../node/networks.ts";
import { readReservations } from "../node/node-reservations.ts";
import { painter } from "../output/terminal.ts";
import {
  addUp,
  countRanges,
  describeCounts,
  describeRange,
  fullSets,
  maxPods,
  outside,
  podsFor,
} from "./capacity-count.ts";
import { capacityTable, type NetworkCounts } from "./capacity-table.ts";
import { nodePatch } from "./node-patch.ts";

const DEFAULT_RESOURCE = "example.com/pod-ips";

/** `capacity`: how many addresses there are, and how many pods they are enough for. */
export const capacity: Command = {
  name: "capacity",
  operands: "[NETWORK]",
  operandCount: { least: 0, most: 1 },
  summary: "how many addresses each range has: used, suspect, free; and how many pods fit",
  description: [
    "Counts every range exactly. RESERVED are the gateway and excluded addresses, which are never handed out; SUSPECTS are those of the used addresses whose files name no container. Reservations in no range, and those of networks whose ranges are not known, have a row of their own. Ends with 1 where a range set has no free address.",
    "A pod takes one address of each range set, so the smallest set decides how many pods a network holds; --max-pods prints that number alone, for kubelet. Kubernetes does not count addresses when it places pods, unless it is told: --node-patch prints a JSON patch that publishes the number on the node as an extended resource.",
  ],
  options: [
    { name: "--max-pods", summary: "print only how many pods the network holds" },
    {
      name: "--node-patch",
      summary: "print the JSON patch that publishes that number on the node",
    },
    {
      name: "--resource",
      value: "NAME",
      summary: `the extended resource in the patch (default: ${DEFAULT_RESOURCE})`,
    },
  ],
  examples: [
    { line: "host-local capacity", effect: "all ranges of all networks" },
    {
      line: 'kubelet --max-pods="$(host-local capacity mynet --max-pods)"',
      effect: "no more pods than there are addresses",
    },
    {
      line: 'kubectl patch node "$(hostname)" --subresource=status --type=json -p "$(host-local capacity mynet --node-patch)"',
      effect: "the scheduler counts addresses, for pods that request the resource",
    },
  ],
  run: (context) => {
    const isPatch = context.has("--node-patch");
    if (context.has("--max-pods")) {
      if (isPatch) throw new CommandError("capacity: choose one of --max-pods and --node-patch");
      return podCount(context);
    }
    if (isPatch) return patch(context);
    if (context.option("--resource") !== undefined) {
      throw new CommandError("capacity: --resource belongs to --node-patch");
    }
    return count(context);
  },
};

function podCount(context: Context): Report {
  const pods = podsOfOne(context);
  return { exitCode: 0, document: { maxPods: pods }, text: `${pods}\n` };
}

function patch(context: Context): Report {
  const document = nodePatch(context.option("--resource") ?? DEFAULT_RESOURCE, podsOfOne(context));
  return { exitCode: 0, document, text: `${JSON.stringify(document)}\n` };
}

/** How many pods the one network in question holds, as far as kubelet can count. */
function podsOfOne(context: Context): bigint {
  const name = context.operands[0];
  const { found, bad } = findNetworks(context, name);
  logProblems(context, bad);
  const known = found.filter(({ rangeSets }) => rangeSets.length > 0);
  const [network, ...others] = known;
  if (network === undefined) {
    throw new CommandError(
      `capacity: no configuration tells the ranges of ${name ?? "any network"}`,
    );
  }
  if (others.length > 0) {
    const of = ({ location, source }: FoundNetwork): string => `${location.network} (${source})`;
    const names = new Set(known.map(({ location }) => location.network));
    throw new CommandError(
      names.size > 1
        ? `capacity: which network? ${known.map(of).join(", ")}; say host-local capacity NETWORK`
        : `capacity: several configurations of one network: ${known.map(of).join(", ")}; leave one in a directory, and name that with --conf-dir`,
    );
  }
  return maxPods(podsFor(network.rangeSets, network.exclusions) ?? 0n);
}

function count(context: Context): Report {
  const { found, bad } = findNetworks(context, context.operands[0]);
  logProblems(context, bad);
  const plural = distinctDirectories(found).flatMap((whole) =>
    countDirectory(context, whole, found),
  );
  const total = addUp(plural.flatMap(({ counts }) => counts.ranges));
  const networks = plural.map(({ counts }) => counts);
  return {
    exitCode: networks.some(({ ranges }) => fullSets(ranges).length > 0) ? 1 : 0,
    document: { networks: plural.map(describe), total: describeCounts(total) },
    text: capacityTable(networks, total, painter(context.system)),
  };
}

interface Counted {
  readonly network: FoundNetwork;
  readonly counts: NetworkCounts;
}

/** A network's reservations, against each configuration of it; those in no range of any belong to the first. */
function countDirectory(
  { system }: Context,
  whole: FoundNetwork,
  found: readonly FoundNetwork[],
): readonly Counted[] {
  const { directory } = whole.location;
  const reservations = listReservations(system, whole.location);
  const suspects = suspectsOf(system, whole);
  const stray = {
    used: outside(whole.rangeSets, reservations).length,
    suspects: outside(whole.rangeSets, suspects).length,
  };
  return found
    .filter(({ location }) => location.directory === directory)
    .map((network, at) => ({
      network,
      counts: {
        network: network.location.network,
        ranges: countRanges(network.rangeSets, network.exclusions, reservations, suspects),
        outside: at === 0 ? stray : { used: 0, suspects: 0 },
        pods: podsFor(network.rangeSets, network.exclusions),
      },
    }));
}

/** The reservations that name no container; read one by one unless the index knows that there are none. */
function suspectsOf(system: OperatorSystem, network: FoundNetwork): readonly Reservation[] {
  if (knownCounts(system, network.location)?.ownerless === 0) return [];
  return readReservations(system, network).filter(({ owner }) => entryOf(owner) === undefined);
}

function describe({ network, counts }: Counted): object {
  const { ranges, outside, pods } = counts;
  return {
    network: network.location.network,
    source: network.source ?? null,
    directory: network.location.directory,
    pods: pods ?? null,
    ranges: ranges.map(describeRange),
    outside,
    total: describeCounts(addUp(ranges)),
  };
}
