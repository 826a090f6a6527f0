import type { Family } from "../../ipam/address.ts";
import {
  clusterCidrsOf,
  clusterOptions,
  type NodeMasks,
  nodeMaskOf,
  nodeMasksOf,
} from "../cluster/cluster-options.ts";
import { leastOf, MAX_MAX_PODS } from "../cluster/node-mask.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { countOption } from "../command/count-option.ts";
import { layOutCidrs, problemsOf } from "./cidr-layout.ts";
import { describePlan } from "./plan-document.ts";
import type { PlanResult } from "./plan-result.ts";
import { planText } from "./plan-text.ts";
import { plannedChange } from "./planned-change.ts";

/** `plan`: how many nodes and pods fit, and what to choose. */
export const plan: Command = {
  name: "plan",
  operands: "",
  operandCount: { least: 0, most: 0 },
  summary: "how many nodes and pods a cluster CIDR holds, and what to choose",
  description: [
    "kube-controller-manager cuts --cluster-cidr into one block a node, of the prefix length --node-cidr-mask-size. Give any two of cluster CIDR, node mask, nodes and pods a node, and this works out the rest; with more it says whether they go together, and what to choose instead. A cluster CIDR alone gets the usual node masks, 24 and 64.",
    "A node's block holds 2^(32 - mask) - 3 pods with IPv4 (network, broadcast and gateway are not handed out), 2^(128 - mask) - 2 with IPv6 (network and gateway). A node for which no block is left gets no podCIDR, and its pods no address. Pods with hostNetwork need no address.",
    "With --was-cluster-cidr or --was-node-cidr-mask-size it says what the new settings do to a cluster that is already numbered under the old ones. Which of the two is not given is taken to be unchanged.",
  ],
  options: [
    ...clusterOptions("", ""),
    { name: "--nodes", value: "N", summary: "how many nodes there shall be" },
    { name: "--pods", value: "N", summary: "how many pods a node shall hold" },
    ...clusterOptions("was-", "before: "),
    {
      name: "--was-nodes",
      value: "N",
      summary: "how many nodes are already numbered (default: as many as the old settings hold)",
    },
  ],
  examples: [
    {
      line: "host-local plan --cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24",
      effect: "256 nodes of 253 pods",
    },
    {
      line: "host-local plan --nodes 1000 --pods 110",
      effect: "which cluster CIDR and node mask to take",
    },
    {
      line: "host-local plan --cluster-cidr 10.240.0.0/12 --node-cidr-mask-size 16 --was-cluster-cidr 10.244.0.0/16 --was-node-cidr-mask-size 24 --nodes 300",
      effect: "what the change does to the nodes that there are",
    },
  ],
  run: planCluster,
};

function planCluster(context: Context): Report {
  const nodes = countOption(context, "--nodes");
  const pods = countOption(context, "--pods");
  const clusters = clusterCidrsOf(context, "");
  const masks = nodeMasksOf(context, "");
  const families = familiesOf(
    clusters.map(({ address }) => address.family),
    masks,
  );
  const hasMask = Object.values(masks).some((mask) => mask !== undefined);
  const known = [hasMask, nodes !== undefined, pods !== undefined].filter(Boolean).length;
  if (known + Math.min(clusters.length, 1) * 2 < 2) {
    throw new CommandError(
      "plan: expected two of --cluster-cidr, --node-cidr-mask-size, --nodes and --pods",
    );
  }
  const requests = families.map((family) => ({
    family,
    cluster: clusters.find(({ address }) => address.family === family),
    nodeMask: nodeMaskOf(masks, family, families, ""),
    nodes,
    pods,
  }));
  const layouts = requests.map(layOutCidrs);
  const held = layouts.flatMap((layout) => (layout.nodes === undefined ? [] : [layout.nodes]));
  const podsHeld = leastOf(layouts.map((layout) => layout.pods));
  const change = plannedChange(context, layouts, nodes);
  const result: PlanResult = {
    asked: { nodes, pods },
    layouts,
    nodes: held.length === 0 ? undefined : leastOf(held),
    pods: podsHeld,
    maxPods: leastOf([podsHeld, MAX_MAX_PODS, pods ?? podsHeld]),
    change,
    problems: [
      ...requests.flatMap((request, index) => {
        const layout = layouts[index];
        return layout === undefined ? [] : problemsOf(request, layout);
      }),
      ...(change?.problems ?? []),
    ],
  };
  return {
    exitCode: result.problems.length > 0 ? 1 : 0,
    document: describePlan(result),
    text: planText(result),
  };
}

/** Without a cluster CIDR, the node mask tells the family; without either it is IPv4. */
function familiesOf(given: readonly Family[], masks: NodeMasks): readonly Family[] {
  if (given.length > 0) return given;
  const named = ([4, 6] as const).filter((family) => masks[`-ipv${family}`] !== undefined);
  if (named.length > 0) return named;
  return [(masks[""] ?? 0) > 32 ? 6 : 4];
}
