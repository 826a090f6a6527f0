import {
  type Command,
  CommandError,
  type Context,
  type Report,
} from "../../cli/command/command.ts";
import { countOption, hostNetworkPodsOption } from "../../cli/command/count-option.ts";
import { parseDuration } from "../../cli/command/duration.ts";
import { timeText } from "../../cli/output/time.ts";
import { join } from "../../store/files/paths.ts";
import { requireDirectory } from "../configured/configuration-directories.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import {
  countRanges,
  describeRange,
  maxPods,
  podsFor,
  type RangeCounts,
} from "../judgements/usage.ts";
import { logUncertainty, logUncounted, type Node, openNode } from "../node.ts";
import { replaceFile } from "../temporary-files.ts";
import { capacityTable, type NetworkCounts } from "./capacity-table.ts";
import { extendedResourceOf, featureFile, nodePatch, resourceOption } from "./extended-resource.ts";

/** The forms of the number of pods. */
const forms = { "--max-pods": podCount, "--node-feature": feature, "--node-patch": patch } as const;

const formNames = ["--max-pods", "--node-feature", "--node-patch"] as const;

/** `capacity`: counts addresses, and the pods that they suffice for. */
export const capacity: Command = {
  name: "capacity",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "count used and free addresses, and the pods that a network can hold",
  description: [
    "Counts the addresses of every range. CAPACITY are those that any pod can get: neither the gateway, nor addresses of exclude and reserved. What ADD takes when the range is otherwise full counts as free: addresses of dead pods, of reservations from before this boot of the node, and of empty files. Of a network without known ranges all reservations are counted. Another user than root may not see what counts as free. Exits with 1 if a range set has no free address that is seen, or every ADD fails.",
    "A pod takes one address of each range set, so the smallest set limits the number of pods in a network. --max-pods prints the value for kubelet's maxPods: that number, and the pods of the node with hostNetwork, which need no address but count.",
    "The Kubernetes scheduler does not count addresses by itself, but it does count an extended resource of the node, for pods that request it. It does not count pods with hostNetwork. --node-feature writes the number to DIR/host-local.NETWORK, a feature file of node-feature-discovery, which makes the resource by a rule and keeps it. --node-patch prints a JSON patch for the node's status, which has to be applied again after each registration of the node.",
    "Drain the node first if it runs more pods than the new number: when kubelet restarts, it fails running pods above maxPods (OutOfpods), and above the number of an extended resource.",
    "With containerd's conf_template there is no configuration before the node has its first podCIDR; host-local plan computes the number from the node mask, and with --pods the node mask from the number.",
  ],
  options: [
    { name: "--max-pods", summary: "print only the number of pods, for kubelet's maxPods" },
    { ...hostNetworkPodsOption, requires: ["--max-pods"] },
    {
      name: "--node-feature",
      value: "DIR",
      summary: "write the number as a feature to a file in DIR, atomically",
    },
    {
      name: "--expires-after",
      value: "DURATION",
      requires: ["--node-feature"],
      summary: "when the feature expires unless it is written again (default: 1h)",
    },
    {
      name: "--node-patch",
      summary: "print the JSON patch that publishes the number of addresses on the node",
    },
    { ...resourceOption, requires: ["--node-feature", "--node-patch"] },
  ],
  exclusive: [formNames],
  examples: [
    { line: "host-local capacity", effect: "count all ranges of all networks" },
    {
      line: `kubectl get pods -A --field-selector "spec.nodeName=$(hostname),status.phase!=Succeeded,status.phase!=Failed" -o jsonpath='{range .items[?(@.spec.hostNetwork==true)]}{.metadata.name}{"\\n"}{end}' | wc -l`,
      effect: "count the node's pods with hostNetwork",
    },
    {
      line: 'pods="$(host-local capacity mynet --max-pods --host-network-pods 3)" && echo "maxPods: $pods"',
      effect: "the line for kubelet's configuration file; nothing is printed if the command fails",
    },
    {
      line: "host-local capacity mynet --node-feature /etc/kubernetes/node-feature-discovery/features.d",
      effect:
        "let the scheduler count addresses, by node-feature-discovery; repeat it within the hour",
    },
    {
      line: 'patch="$(host-local capacity mynet --node-patch)" && kubectl patch node "$(hostname)" --subresource=status --type=json -p "$patch"',
      effect: "the same once, without node-feature-discovery",
    },
  ],
  run: (context) => {
    const { has, option } = context;
    const form = formNames.find((name) => has(name) || option(name) !== undefined);
    return form === undefined ? count(context) : forms[form](context);
  },
};

function podCount(context: Context): Report {
  const hostNetworkPods = countOption(context, hostNetworkPodsOption.name, 0n);
  const { pods: addresses } = podsWithAddresses(context);
  const pods = maxPods(addresses + (hostNetworkPods ?? 0n));
  if (hostNetworkPods === undefined && context.system.isTerminal(2)) {
    context.log(
      `pods with hostNetwork count, too: add them with ${hostNetworkPodsOption.name} N. Drain the node before you lower maxPods.`,
    );
  }
  return {
    exitCode: 0,
    document: () => ({ maxPods: pods, addresses, hostNetworkPods: hostNetworkPods ?? 0n }),
    text: () => `${pods}\n`,
  };
}

function patch(context: Context): Report {
  const resource = extendedResourceOf(context);
  const document = nodePatch(resource, maxPods(podsWithAddresses(context).pods));
  return { exitCode: 0, document: () => document, text: () => `${JSON.stringify(document)}\n` };
}

function feature(context: Context): Report {
  const { system, option } = context;
  const resource = extendedResourceOf(context);
  const lifetime = parseDuration(option("--expires-after") ?? "1h", "--expires-after");
  const directory = requireDirectory(system, "--node-feature", option("--node-feature") ?? "");
  const { network, pods } = podsWithAddresses(context);
  const path = join(directory, `host-local.${network}`);
  const expires = system.now() + lifetime;
  replaceFile(system, "--node-feature", path, featureFile(resource, maxPods(pods), expires));
  return {
    exitCode: 0,
    document: () => ({
      file: path,
      feature: resource,
      pods: maxPods(pods),
      expires: timeText(expires),
    }),
    text: () => "",
  };
}

/**
 * The number of pods that a network has addresses for.
 *
 * @throws CommandError unless exactly one configured network matches
 */
function podsWithAddresses(context: Context): {
  readonly network: string;
  readonly pods: bigint;
} {
  const name = context.operands[0];
  const node = openNode(context, name);
  const networks = node.askedNetworks;
  const uncertain = networks.find(({ uncertainty }) => uncertainty !== undefined);
  if (uncertain?.uncertainty !== undefined) {
    throw new CommandError(`capacity: ${uncertain.source}: ${uncertain.uncertainty}`);
  }
  const configured = networks.filter(({ rangeSets }) => rangeSets.length > 0);
  const [network, ...others] = configured;
  if (network === undefined) {
    throw new CommandError(
      `capacity: no configuration has ranges for ${name ?? "any network"}; with containerd's conf_template there is none before the node's first podCIDR: see --pods in host-local plan --help`,
    );
  }
  if (others.length > 0) {
    const candidates = configured
      .map(({ files, source }) => `${files.network} (${source})`)
      .join(", ");
    throw new CommandError(
      `capacity: several configurations: ${candidates}; choose a network with host-local capacity NETWORK, and one of its configurations with a --conf-dir that has only that`,
    );
  }
  return {
    network: network.files.network,
    pods: podsFor(network.rangeSets, network.exclusions) ?? 0n,
  };
}

function count(context: Context): Report {
  const node = openNode(context, context.operands[0]);
  logUncertainty(node);
  const counted = node.asked.flatMap((directory) => countDirectory(node, directory));
  for (const directory of node.asked) logUncounted(node, directory);
  return {
    exitCode: counted.some(isShort) ? 1 : 0,
    document: () => ({ networks: counted.map(describe) }),
    text: () => capacityTable(counted, context),
  };
}

/** Whether the next pod gets no address: a range set has none, or every ADD fails. */
function isShort({ next }: NetworkCounts): boolean {
  return next.failure !== undefined || next.sets.some(({ kind }) => kind !== "free");
}

/** Counts a directory for each of its configurations. */
function countDirectory(node: Node, directory: NetworkDirectory): readonly NetworkCounts[] {
  // First: after a reboot it reads all reservations, and the rest uses those.
  const taken = node.takenIn(directory);
  const empty = directory.removable.size;
  return directory.networks.map((network) => ({
    network,
    next: node.nextAddIn(directory, network),
    ranges: countRanges(network, node.usedIn(directory, network)),
    reclaimable: network.reclaims ? taken && taken.size + empty : empty,
    reservations: directory.listed.length,
    pods: podsFor(network.rangeSets, network.exclusions),
  }));
}

function describe(counts: NetworkCounts): object {
  const { network, ranges, reservations, pods, next, reclaimable } = counts;
  return {
    network: network.files.network,
    directory: network.files.directory,
    configuration: network.source ?? null,
    reservations,
    pods: pods ?? null,
    failure: next.failure ?? null,
    reclaimable: reclaimable ?? null,
    ranges: ranges.map(describeCounts),
  };
}

function describeCounts(counts: RangeCounts): object {
  const { capacity, used, free } = counts;
  return { ...describeRange(counts), capacity, used, free };
}
