import { type Command, type Context, type Report, UsageError } from "../../cli/command/command.ts";
import { countOption, hostNetworkPodsOption } from "../../cli/command/count-option.ts";
import {
  clusterCidrsOf,
  clusterOptions,
  nodeMasksOf,
  serviceCidrOption,
  serviceCidrsOf,
} from "../nodes/cluster-options.ts";
import { DEFAULT_NODE_MASK, leastOf, MAX_MAX_PODS } from "../nodes/node-mask.ts";
import { layOutCidrs } from "./cidr-layout.ts";
import { describePlan, type PlanResult } from "./plan-document.ts";
import { planText } from "./plan-text.ts";
import { plannedChange } from "./planned-change.ts";
import { problemsOf, serviceProblems } from "./problems.ts";
import { partitionOption, partProblems, rangeParts } from "./range-parts.ts";

/** `plan`: how many nodes and pods fit into a cluster CIDR, and which settings to choose. */
export const plan: Command = {
  name: "plan",
  operands: "",
  summary: "compute how many nodes and pods fit into a cluster CIDR, and suggest settings",
  description: [
    "kube-controller-manager assigns each node a podCIDR: a part of --cluster-cidr with the prefix length --node-cidr-mask-size. Give the cluster CIDR, or the number of nodes with the node mask or the pods per node, and plan computes the others. Give more, and it says whether they fit together, and what to choose instead. For a cluster CIDR alone it uses the default node masks, 24 for IPv4 and 64 for IPv6. A node mask that it chooses has to be set, and it says so. A podCIDR that overlaps one of --service-cidr is not counted: kube-controller-manager assigns none of them.",
    "An IPv4 podCIDR holds 2^(32 - mask) - 3 pods (network address, broadcast address and gateway are never assigned), an IPv6 podCIDR 2^(128 - mask) - 2 (network address and gateway). One of one or two addresses (/31, /32, /127, /128) has no gateway: all of them are assigned, but it is of little use to a node. When all podCIDRs are in use, a further node gets none, and its pods get no address. Pods with hostNetwork need no address.",
    "With --partition it says what each node has of a range that the key partition divides: one part for each podCIDR of the first cluster CIDR.",
    "With --was-cluster-cidr or --was-node-cidr-mask-size it says what a change from these settings means for the nodes that already have a podCIDR. The setting that is not given is taken as unchanged.",
  ],
  options: [
    ...clusterOptions("", ""),
    { ...serviceCidrOption, requires: ["--cluster-cidr"] },
    { name: "--nodes", value: "N", summary: "number of nodes in the cluster" },
    { name: "--pods", value: "N", summary: "number of pods with an address on each node" },
    hostNetworkPodsOption,
    partitionOption,
    ...clusterOptions("was-", "before the change: "),
    {
      name: "--was-nodes",
      value: "N",
      requires: clusterOptions("was-", "").map(({ name }) => name),
      summary: "current number of nodes (default: as many as the old settings hold)",
    },
  ],
  examples: [
    {
      line: "host-local plan --cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24",
      effect: "256 nodes with 253 pods each",
    },
    {
      line: "host-local plan --nodes 1000 --pods 110",
      effect: "which cluster CIDR and node mask to choose",
    },
    {
      line: "host-local plan --cluster-cidr 10.244.0.0/16 --pods 110 --host-network-pods 6",
      effect: "the node mask, and kubelet's maxPods before a node has a podCIDR",
    },
    {
      line: "host-local plan --cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24 --partition 192.168.0.0/20",
      effect: "16 addresses of the range for each node",
    },
    {
      line: "host-local plan --cluster-cidr 10.240.0.0/12 --node-cidr-mask-size 16 --was-cluster-cidr 10.244.0.0/16 --was-node-cidr-mask-size 24 --nodes 300",
      effect: "what the change means for the existing nodes",
    },
  ],
  run: planCluster,
};

function planCluster(context: Context): Report {
  const nodes = countOption(context, "--nodes");
  const pods = countOption(context, "--pods");
  const hostNetworkPods = countOption(context, hostNetworkPodsOption.name, 0n) ?? 0n;
  const clusters = clusterCidrsOf(context, "--cluster-cidr");
  const masks = nodeMasksOf(context, "");
  const serviceCidrs = serviceCidrsOf(context);
  const hasSize = masks.families.length > 0 || pods !== undefined;
  if (clusters.length === 0 && !(nodes !== undefined && hasSize)) {
    throw new UsageError(
      "expected --cluster-cidr, or --nodes with --node-cidr-mask-size or --pods",
    );
  }
  const given = clusters.map(({ address }) => address.family);
  const families = [given, masks.families].find(({ length }) => length > 0) ?? [4];
  const plans = families.map((family) => {
    const cluster = clusters.find(({ address }) => address.family === family);
    const given = masks.of(family, families);
    const byDefault = DEFAULT_NODE_MASK[family];
    // Where nothing else is asked for, the question is what kube-controller-manager does with the cluster CIDR.
    const nodeMask = given ?? (nodes === undefined && pods === undefined ? byDefault : undefined);
    const request = { family, cluster, serviceCidrs, nodeMask, nodes, pods };
    const layout = layOutCidrs(request);
    const otherSource = layout.nodeMask === byDefault ? "default" : "chosen";
    const nodeMaskSource = given === undefined ? otherSource : "option";
    return { request, layout: { ...layout, nodeMaskSource } } as const;
  });
  const layouts = plans.map(({ layout }) => layout);
  const podsPerNode = leastOf(layouts.map((layout) => layout.pods));
  // The podCIDRs of the first family divide the ranges.
  const partitions = layouts.slice(0, 1).flatMap((layout) => rangeParts(context, layout));
  const change = plannedChange(context, layouts, nodes);
  const wanted = change?.wanted ?? nodes;
  const result: PlanResult = {
    asked: { nodes, pods },
    layouts,
    nodes: leastOf(layouts.map((layout) => layout.nodes)),
    pods: podsPerNode,
    hostNetworkPods,
    maxPods: leastOf([MAX_MAX_PODS, leastOf([podsPerNode, pods ?? podsPerNode]) + hostNetworkPods]),
    partitions,
    change,
    problems: [
      ...plans.flatMap(({ request, layout }) => problemsOf({ ...request, nodes: wanted }, layout)),
      ...serviceProblems(layouts),
      ...partProblems(partitions),
      ...(change?.problems ?? []),
    ],
  };
  return {
    exitCode: result.problems.length > 0 ? 1 : 0,
    document: () => describePlan(result),
    text: () => planText(result, context.system),
  };
}
