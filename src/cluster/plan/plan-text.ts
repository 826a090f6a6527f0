/** The text of `plan`. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatCount, tableWidth } from "../../cli/output/terminal.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import {
  DEFAULT_MAX_PODS,
  DEFAULT_NODE_MASK,
  leastOf,
  MAX_IPV6_NODE_BITS,
  MAX_MAX_PODS,
} from "../nodes/node-mask.ts";
import type { Settings } from "./cidr-change.ts";
import type { CidrLayout, Problem } from "./cidr-request.ts";
import { choicesFor, type PlanResult } from "./plan-document.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { RangeParts } from "./range-parts.ts";

/** The plan as tables, with advice and problems. */
export function planText(plan: PlanResult, system: OperatorSystem): string {
  const { layouts, partitions, change, problems } = plan;
  return [
    formatTable(
      columns("FAMILY", "CLUSTER CIDR", "NODE MASK", ">NODES", ">PODS PER NODE"),
      layouts.map((layout) => [
        `IPv${layout.family}`,
        clusterOf(layout),
        `/${layout.nodeMask}`,
        formatCount(system, layout.nodes),
        formatCount(system, layout.pods),
      ]),
      { width: tableWidth(system) },
    ),
    advice(plan),
    maskAdvice(plan),
    ...layouts.map((layout) => choicesText(layout, system)),
    partsText(partitions, system),
    ...(change === undefined ? [] : [changeText(change, system)]),
    ...(problems.length === 0 ? [] : [`Problems:\n\n${problems.map(problemText).join("")}`]),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function advice(plan: PlanResult): string {
  const { nodes, layouts } = plan;
  if (nodes === 0n) return "";
  const isWide = layouts.some(
    ({ family, clusterLength, nodeMask }) =>
      family === 4 && nodeMask - clusterLength > MAX_IPV6_NODE_BITS,
  );
  const wide = `kubeadm rejects node masks more than ${MAX_IPV6_NODE_BITS} bits longer than the prefix of the cluster CIDR; for IPv4 kube-controller-manager itself accepts them.\n`;
  return `Node ${decimal(nodes + 1n)} would get no podCIDR, and its pods no address.\n${maxPodsAdvice(plan)}${isWide ? wide : ""}`;
}

/** The options that kube-controller-manager needs because a node mask is not its default; none for one that does not suffice. */
function maskAdvice({ layouts, asked }: PlanResult): string {
  const { nodes = 1n, pods = 1n } = asked;
  const lines = layouts
    .filter(({ nodeMaskSource }) => nodeMaskSource === "chosen")
    .filter((layout) => layout.nodes >= nodes && layout.pods >= pods)
    .map(({ family, nodeMask }) => {
      const suffix = layouts.length > 1 ? `-ipv${family}` : "";
      return `The node mask /${nodeMask} is chosen here. kube-controller-manager's default is /${DEFAULT_NODE_MASK[family]}: set --node-cidr-mask-size${suffix}=${nodeMask}.\n`;
    });
  return lines.join("");
}

function maxPodsAdvice({ asked, pods, hostNetworkPods, maxPods }: PlanResult): string {
  if (maxPods >= MAX_MAX_PODS) return "Every value of kubelet's maxPods fits.\n";
  const addresses = maxPods - hostNetworkPods;
  const most = asked.pods === addresses ? "" : "at most ";
  const hostNetwork =
    hostNetworkPods === 0n
      ? ", plus the number of its pods with hostNetwork, which kubelet counts, too"
      : `: ${addresses} for pods with an address, ${hostNetworkPods} for pods with hostNetwork`;
  const byDefault =
    pods < DEFAULT_MAX_PODS
      ? "Its default, 110, is more than a podCIDR holds. Drain a node before you lower it: when kubelet restarts, it fails the pods above the new value (OutOfpods).\n"
      : "";
  return `Set kubelet's maxPods to ${most}${maxPods}${hostNetwork}.\n${byDefault}`;
}

function choicesText(layout: CidrLayout, system: OperatorSystem): string {
  const choices = choicesFor(layout);
  if (choices.length === 0) return "";
  const rows = choices.map((choice) => [
    `/${choice.nodeMask}`,
    formatCount(system, choice.nodes),
    formatCount(system, choice.podsPerNode),
  ]);
  const where = `${layout.cluster === undefined ? "a cluster CIDR of " : ""}${clusterOf(layout)}`;
  const table = formatTable(columns("NODE MASK", ">NODES", ">PODS PER NODE"), rows, {
    width: tableWidth(system),
  });
  return `Node masks for ${where} (IPv${layout.family}):\n\n${table}`;
}

function partsText(partitions: readonly RangeParts[], system: OperatorSystem): string {
  if (partitions.length === 0) return "";
  const rows = partitions.map(({ text, ...counts }) => [
    text,
    ...[counts.parts, counts.addresses, counts.fewest].map((count) => formatCount(system, count)),
  ]);
  const table = formatTable(columns("RANGE", ">PARTS", ">ADDRESSES PER NODE", ">FEWEST"), rows, {
    width: tableWidth(system),
  });
  return `What a node has of a range that partition divides, and the one with the network and broadcast addresses and the gateway (FEWEST):\n\n${table}`;
}

function changeText(change: PlannedChange, system: OperatorSystem): string {
  const { families, existing, wanted, further } = change;
  const table = formatTable(
    columns("?FAMILY", "FROM", "TO", ">KEEP", ">OTHER SIZE", ">OUTSIDE", ">TAKEN", ">FREE"),
    families.map(({ family, was, now, keeping, otherSize, outside, cidrsTaken, cidrsFree }) => [
      `IPv${family}`,
      formatSettings(was),
      formatSettings(now),
      ...[keeping, otherSize, outside, cidrsTaken, cidrsFree].map((count) =>
        formatCount(system, count),
      ),
    ]),
    { width: tableWidth(system) },
  );
  return `The change, for ${plural(existing, "node")} that ${verbFor(existing, "has", "have")} the first podCIDRs of the old settings:

${table}
KEEP, OTHER SIZE, OUTSIDE: nodes whose podCIDR fits the new settings, has another size, or is outside the new cluster CIDR.
TAKEN, FREE: CIDRs of the new size that overlap these podCIDRs, or are left for further nodes.
${wanted > existing ? `Of ${plural(wanted - existing, "further node")}, ${decimal(leastOf([further, wanted - existing]))} would get a podCIDR.` : `${plural(further, "further node")} would get a podCIDR.`}
`;
}

function problemText({ family, message, instead }: Problem): string {
  return `- ${family === undefined ? "" : `IPv${family}: `}${message}.\n  Instead: ${instead}.\n`;
}

function clusterOf({ cluster, clusterLength }: CidrLayout): string {
  return cluster === undefined ? `/${clusterLength}` : formatPrefix(cluster);
}

function formatSettings({ cluster, nodeMask }: Settings): string {
  return `${formatPrefix(cluster)}, /${nodeMask}`;
}
