import type { Family } from "../../ipam/address.ts";
import { addressRangeOf } from "../../ipam/prefix.ts";
import {
  clusterCidrsOf,
  clusterOptions,
  nodeMaskOf,
  nodeMasksOf,
} from "../cluster/cluster-options.ts";
import {
  commonestMask,
  type ExpectedMask,
  type NodeCidrs,
  parseNodeCidrs,
  usualFamilies,
} from "../cluster/node-cidrs.ts";
import { type ClusterNode, parseNodes } from "../cluster/node-list.ts";
import { DEFAULT_NODE_MASK } from "../cluster/node-mask.ts";
import { groupCidrs } from "../cluster/overlapping-cidrs.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { painter } from "../output/terminal.ts";
import { describeAudit } from "./audit-document.ts";
import type { AuditResult } from "./audit-result.ts";
import { auditText } from "./audit-text.ts";
import { findProblems } from "./node-findings.ts";
import { proposeRenumbering } from "./renumbering.ts";

/** `audit`: what is wrong with the podCIDRs of a cluster's nodes. */
export const audit: Command = {
  name: "audit",
  operands: "[FILE]",
  operandCount: { least: 0, most: 1 },
  summary: "what is wrong with the podCIDRs of a cluster's nodes",
  description: [
    "Reads what kubectl get nodes -o json (or -o yaml) prints, from a file or, with - or without an operand, from standard input, and asks nobody else. It finds nodes without podCIDR, podCIDRs that two nodes have or that lie in one another, that are outside the cluster CIDR, of another size than the rest or unusable, and nodes that take more pods than they have addresses.",
    "With --cluster-cidr it proposes a free block for each node that should get another one, and prints the commands for it; it runs none. Without a node mask the commonest one counts.",
  ],
  options: clusterOptions("", ""),
  examples: [
    {
      line: "kubectl get nodes -o json | host-local audit --cluster-cidr 10.244.0.0/16",
      effect: "all problems, and how to solve them",
    },
    {
      line: "host-local audit nodes.json --cluster-cidr 10.244.0.0/16,fd00:10::/48 --json",
      effect: "a dual-stack cluster, for a program",
    },
  ],
  run: auditNodes,
};

/** No text of nodes is larger, in bytes: 5000 nodes with fifty images each are a hundred million. */
const LARGEST_INPUT = 256 * 1024 * 1024;

/** Whoever lists nodes on standard input is waited for so long, in milliseconds. */
const INPUT_TIMEOUT_SECONDS = 10 * 60 * 1000;

function auditNodes(context: Context): Report {
  const { system } = context;
  const clusters = clusterCidrsOf(context, "").map((prefix) => ({
    ...prefix,
    ...addressRangeOf(prefix),
  }));
  const [file = "-"] = context.operands;
  if (context.operands.length === 0 && system.isTerminal(0)) {
    throw new CommandError("audit: expected a file, or the nodes on standard input");
  }
  const text =
    file === "-"
      ? system.readStandardInput(LARGEST_INPUT, INPUT_TIMEOUT_SECONDS)
      : system.readFile(file, LARGEST_INPUT);
  const source = file === "-" ? "standard input" : file;
  const nodes = withoutRepetition(context, parseNodes(text, source)).map(parseNodeCidrs);
  const families =
    clusters.length > 0 ? clusters.map(({ address }) => address.family) : usualFamilies(nodes);
  const masks = expectedMasks(context, nodes, families);
  const expectation = { clusters, masks, families };
  const groups = groupCidrs(nodes.flatMap(({ cidrs }) => cidrs));
  const result: AuditResult = {
    nodes,
    expectation,
    findings: findProblems(nodes, groups, expectation),
    renumberings: proposeRenumbering(nodes, groups, expectation),
  };
  return {
    exitCode: result.findings.length > 0 ? 1 : 0,
    document: describeAudit(result),
    text: auditText(result, painter(system)),
  };
}

/** A node that is in the text twice, as it is in two lists one after the other, counts as the last one says. */
function withoutRepetition(
  context: Context,
  nodes: readonly ClusterNode[],
): readonly ClusterNode[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  if (byName.size < nodes.length) {
    context.log(
      `host-local: audit: ${nodes.length - byName.size} nodes are there twice; the last one counts\n`,
    );
  }
  return [...byName.values()];
}

/** The masks that were given, else the commonest ones, else what kube-controller-manager takes. */
function expectedMasks(
  context: Context,
  nodes: readonly NodeCidrs[],
  families: readonly Family[],
): readonly ExpectedMask[] {
  const masks = nodeMasksOf(context, "");
  const cidrs = nodes.flatMap((withPodCidr) => withPodCidr.cidrs);
  const found = ([4, 6] as const).filter((family) => cidrs.some((one) => one.family === family));
  const named = ([4, 6] as const).filter((family) => masks[`-ipv${family}`] !== undefined);
  const hasClusters = context.option("--cluster-cidr") !== undefined;
  const known = hasClusters ? families : [...new Set([...families, ...found, ...named])];
  return [...known].sort().map((family) => {
    const given = nodeMaskOf(masks, family, known, "");
    if (given !== undefined) return { family, nodeMask: given, source: "option" };
    const commonest = commonestMask(cidrs, family);
    return commonest === undefined
      ? { family, nodeMask: DEFAULT_NODE_MASK[family], source: "default" }
      : { family, nodeMask: commonest, source: "commonest" };
  });
}
