import { type Command, type Context, type Report, UsageError } from "../../cli/command/command.ts";
import { countOption, hostNetworkPodsOption } from "../../cli/command/count-option.ts";
import type { Family } from "../../ipam/address.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import {
  clusterCidrsOf,
  clusterOptions,
  nodeMasksOf,
  serviceCidrOption,
  serviceCidrsOf,
} from "../nodes/cluster-options.ts";
import {
  type ClusterCidr,
  type ClusterNode,
  commonestMask,
  type Expectation,
  type ExpectedMask,
  usualFamilies,
} from "../nodes/node-cidrs.ts";
import { parseNodes } from "../nodes/node-list.ts";
import { DEFAULT_NODE_MASK, leastOf, nodesIn } from "../nodes/node-mask.ts";
import { serviceOverlap, startFault } from "../nodes/obstacles.ts";
import { groupCidrs } from "../nodes/overlapping-cidrs.ts";
import { type AuditResult, describeAudit } from "./audit-document.ts";
import { auditText } from "./audit-text.ts";
import { findProblems } from "./node-findings.ts";
import { proposeRenumbering } from "./renumbering.ts";

const forceOption = {
  name: "--force",
  summary: "propose podCIDRs for warnings, too, and where the cluster CIDR seems to be another",
};

/** `audit`: what is wrong with the podCIDRs of a cluster's nodes. */
export const audit: Command = {
  name: "audit",
  operands: "[FILE]",
  summary: "find problems with the podCIDRs of a cluster's nodes",
  description: [
    "Reads the output of kubectl get nodes -o json from a file or, with - or without an operand, from standard input. It needs no access to the cluster. audit finds nodes without a podCIDR; podCIDRs that are the same as or overlap those of another node, are outside the cluster CIDR or in the service CIDR, are of another size than the others, or are invalid; nodes whose own address (InternalIP) is in a podCIDR or the cluster CIDR; and nodes that allow more pods than they have addresses.",
    "With --cluster-cidr it proposes a free podCIDR for each node that needs another one, and prints the commands that assign it; it does not run them. Without a node mask, it uses the most common one. If most nodes are outside the cluster CIDR, that is probably not the right one, and nothing is proposed. A node whose podCIDR is only of another size keeps it.",
    "Where no node has a podCIDR, the network does not use them (Calico, Cilium, the VPC CNI of EKS), and there is nothing to audit, unless kube-controller-manager has none to assign: with --cluster-cidr and --service-cidr audit counts them as it does.",
  ],
  options: [...clusterOptions("", ""), serviceCidrOption, hostNetworkPodsOption, forceOption],
  examples: [
    {
      line: "kubectl get nodes -o json | host-local audit --cluster-cidr 10.244.0.0/16",
      effect: "all problems, and how to solve them",
    },
    {
      line: "host-local audit nodes.json --cluster-cidr 10.244.0.0/16,fd00:10::/48 --json",
      effect: "a dual-stack cluster, as JSON",
    },
  ],
  run: auditNodes,
};

/** The largest input, in bytes. 5000 nodes with fifty images each are about 100 MB. */
const LARGEST_INPUT = 256 * 1024 * 1024;

/** How long to wait for the nodes on standard input, in milliseconds. */
const LONGEST_INPUT = 10 * 60 * 1000;

function auditNodes(context: Context): Report {
  const { system } = context;
  const clusters = clusterCidrsOf(context, "--cluster-cidr");
  const [file = "-"] = context.operands;
  if (context.operands.length === 0 && system.isTerminal(0)) {
    throw new UsageError("expected a file, or the nodes on standard input");
  }
  const text =
    file === "-"
      ? system.readStandardInput(LARGEST_INPUT, LONGEST_INPUT)
      : system.readFile(file, LARGEST_INPUT);
  const source = file === "-" ? "standard input" : file;
  const nodes = parseNodes(text, source);
  const families =
    clusters.length > 0 ? clusters.map(({ address }) => address.family) : usualFamilies(nodes);
  const masks = expectedMasks(context, nodes, families);
  const expectation = {
    clusters,
    serviceCidrs: serviceCidrsOf(context),
    masks,
    families,
    hostNetworkPods: countOption(context, hostNetworkPodsOption.name, 0n) ?? 0n,
    replacesHarmless: context.has(forceOption.name),
  };
  const groups = groupCidrs(nodes.flatMap(({ cidrs }) => cidrs));
  const usesPodCidrs = nodes.some(({ cidrs }) => cidrs.length > 0);
  const supplies = clusters.map((cluster) => supplyOf(cluster, expectation));
  const obstacles = supplies.flatMap(({ obstacle }) => obstacle ?? []);
  // If no podCIDR can be assigned, that is why no node has one.
  const expectsPodCidrs = usesPodCidrs || obstacles.length > 0;
  const findings = findProblems(nodes, groups, expectation).filter(
    ({ code }) => expectsPodCidrs || code !== "no-pod-cidr",
  );
  const outside = new Set(findings.filter(({ code }) => code === "outside").map(({ node }) => node))
    .size;
  const isClusterDoubtful = outside * 2 > nodes.filter(({ cidrs }) => cidrs.length > 0).length;
  const isTrusted = clusters.length > 0 && (!isClusterDoubtful || context.has(forceOption.name));
  const renumberings =
    expectsPodCidrs && isTrusted ? proposeRenumbering(nodes, groups, expectation) : [];
  const isDeleted = new Set(
    renumberings.filter(({ podCidrs }) => podCidrs !== undefined).map(({ node }) => node),
  );
  const result: AuditResult = {
    nodes,
    expectation,
    usesPodCidrs,
    assignable: clusters.length > 0 ? leastOf(supplies.map(({ count }) => count)) : undefined,
    obstacles,
    findings,
    outside,
    isClusterDoubtful,
    renumberings,
    restartsController: groups.some(
      ({ members, around, within }) =>
        (members.length > 1 || around !== undefined || within.length > 0) &&
        members.some(({ node }) => isDeleted.has(node)),
    ),
  };
  return {
    exitCode: result.findings.length > 0 ? 1 : 0,
    document: () => describeAudit(result),
    text: () => auditText(result, system),
  };
}

/** How many podCIDRs kube-controller-manager can assign, and why there are none. */
interface Supply {
  readonly count: bigint;
  readonly obstacle: string | undefined;
}

function supplyOf(cluster: ClusterCidr, { masks, serviceCidrs }: Expectation): Supply {
  const { family } = cluster.address;
  const nodeMask =
    masks.find((mask) => mask.family === family)?.nodeMask ?? DEFAULT_NODE_MASK[family];
  const fault = startFault(family, cluster.length, nodeMask, ` ${formatPrefix(cluster)}`);
  if (fault !== undefined) return { count: 0n, obstacle: fault.message };
  const overlap = serviceOverlap(cluster, nodeMask, serviceCidrs);
  if (overlap?.left === 0n) return { count: 0n, obstacle: overlap.message };
  return { count: overlap?.left ?? nodesIn(cluster.length, nodeMask), obstacle: undefined };
}

/** The mask expected of each family: the one given, else the most common one, else kube-controller-manager's default. */
function expectedMasks(
  context: Context,
  nodes: readonly ClusterNode[],
  families: readonly Family[],
): readonly ExpectedMask[] {
  const masks = nodeMasksOf(context, "");
  return families.map((family) => {
    const given = masks.of(family, families);
    if (given !== undefined) return { family, nodeMask: given, source: "option" };
    const commonest = commonestMask(
      nodes.flatMap(({ cidrs }) => cidrs),
      family,
    );
    return commonest === undefined
      ? { family, nodeMask: DEFAULT_NODE_MASK[family], source: "default" }
      : { family, nodeMask: commonest, source: "commonest" };
  });
}
