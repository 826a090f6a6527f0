/** The text of `audit`. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { columns, formatTable, type TableLayout } from "../../cli/output/table.ts";
import { type Paint, painter, tableWidth } from "../../cli/output/terminal.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import type { ClusterNode, Expectation } from "../nodes/node-cidrs.ts";
import type { AuditResult } from "./audit-document.ts";
import { type FindingCode, findingCodes, type NodeFinding } from "./node-findings.ts";
import { restartController, stepsFor, stepsPreface } from "./renumbering-steps.ts";

/** What a code means, and what follows from it. */
const meanings: Readonly<Record<FindingCode, string>> = {
  duplicate:
    "several nodes have the same podCIDR; traffic to their pods is lost, and with partition they hand out the same addresses",
  overlap:
    "the podCIDR overlaps that of another node; traffic to their pods is lost, and with partition they hand out the same addresses",
  "no-pod-cidr": "a podCIDR is missing; pods get no address",
  invalid: "the plugin rejects the podCIDR; pods get no address",
  outside:
    "the podCIDR is outside the cluster CIDR that it is compared with; kube-controller-manager does not start while there is such a node",
  "service-cidr":
    "the podCIDR overlaps the service CIDR; a pod with the address of a service cannot be reached",
  "node-address":
    "the node's own address is in a podCIDR or the cluster CIDR; a pod can get the same address, and traffic to both is lost. Choose a cluster CIDR outside the network of the nodes",
  "mask-size":
    "the podCIDR does not have the size of the node mask; it may take the place of several, and --force proposes another",
  "max-pods": "the scheduler may place more pods on the node than it has addresses",
};

const noPodCidrs =
  "The network does not use podCIDRs (as Calico, Cilium and the VPC CNI of EKS by default), or kube-controller-manager runs without --allocate-node-cidrs, or has none to assign (CIDRNotAvailable): --cluster-cidr and --service-cidr show that.\n";

/** The findings, grouped by code, the proposals, and the commands that apply them. */
export function auditText(audit: AuditResult, system: OperatorSystem): string {
  const paint = painter(system);
  const layout = { width: tableWidth(system) };
  const { nodes, expectation, findings } = audit;
  return [
    `${plural(nodes.length, "node")}, ${formatExpectation(expectation)}. ${summaryOf(audit, paint)}\n`,
    obstaclesText(audit),
    ...findingCodes.map((code) => groupText(code, findings, paint, layout)),
    doubtText(audit),
    proposalsText(audit, layout),
    stepsText(audit),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function summaryOf({ findings, usesPodCidrs, nodes }: AuditResult, paint: Paint): string {
  const withFindings = new Set(findings.map(({ node }) => node)).size;
  if (!usesPodCidrs && nodes.length > 0) return "No node has a podCIDR.";
  return withFindings === 0
    ? paint("No problems found.", "good")
    : `${plural(withFindings, "node")} with problems.`;
}

function obstaclesText({ usesPodCidrs, obstacles }: AuditResult): string {
  if (obstacles.length === 0) return usesPodCidrs ? "" : noPodCidrs;
  return `kube-controller-manager has no podCIDR to assign: ${obstacles.join("; ")}.\n`;
}

function doubtText({ isClusterDoubtful, outside, expectation }: AuditResult): string {
  if (!isClusterDoubtful) return "";
  const clusters = expectation.clusters.map(formatPrefix).join(",");
  return `${plural(outside, "node")}, most of those with a podCIDR, ${verbFor(outside, "is", "are")} outside ${clusters}: it is probably not the cluster CIDR of this cluster. Compare it with --cluster-cidr of kube-controller-manager. With --force podCIDRs are proposed nevertheless.\n`;
}

function formatExpectation({ clusters, masks }: Expectation): string {
  const cidrs = clusters.map(formatPrefix).join(",");
  const sizes = masks.map(({ family, nodeMask, source }) => {
    const origin =
      source === "option" ? "" : `, the ${source === "default" ? source : "most common"}`;
    return `node mask /${nodeMask} (IPv${family}${origin})`;
  });
  return [
    cidrs === "" ? "no --cluster-cidr to propose podCIDRs of" : `cluster CIDR ${cidrs}`,
    ...sizes,
  ].join(", ");
}

function groupText(
  code: FindingCode,
  findings: readonly NodeFinding[],
  paint: Paint,
  layout: TableLayout,
): string {
  const group = findings.filter((finding) => finding.code === code);
  const [first] = group;
  if (first === undefined) return "";
  const title = paint(`${code} (${first.severity}, ${group.length})`, first.severity);
  const rows = group.map(({ node, podCidr, message }) => [node.name, podCidr || "-", message]);
  return `${title}: ${meanings[code]}\n\n${formatTable(columns("NODE", "PODCIDR", "PROBLEM"), rows, layout)}`;
}

function proposalsText(
  { nodes, renumberings, expectation }: AuditResult,
  layout: TableLayout,
): string {
  if (renumberings.length === 0) return "";
  const rows = renumberings.map(({ node, podCidrs }) => [
    node.name,
    node.cidrs.map(({ text }) => text).join(",") || "-",
    podCidrs?.join(",") ?? "none is left",
  ]);
  const table = formatTable(columns("NODE", "FROM", "TO"), rows, layout);
  const isLacking = renumberings.some(({ podCidrs }) => podCidrs === undefined);
  return `${plural(renumberings.length, "node")} to renumber:\n\n${table}${isLacking ? planText(nodes.length, expectation) : ""}`;
}

/** The command that says which cluster CIDR and node mask hold all nodes. */
function planText(nodes: number, { clusters, serviceCidrs }: Expectation): string {
  const services =
    serviceCidrs.length === 0 ? "" : ` --service-cidr ${serviceCidrs.map(formatPrefix).join(",")}`;
  return `\nFor settings that hold all nodes: host-local plan --cluster-cidr ${clusters.map(formatPrefix).join(",")}${services} --nodes ${nodes}\n`;
}

/** The commands for one node: audit is run again after each, and has those for the next one then. */
function stepsText({ renumberings, restartsController }: AuditResult): string {
  const [block, ...others] = renumberings.flatMap(({ node, podCidrs }) =>
    podCidrs === undefined ? [] : [{ name: node.name, text: blockText(node, podCidrs) }],
  );
  if (block === undefined) return "";
  const names = others.map(({ name }) => name).join(", ");
  const next = names === "" ? [] : [`# Then run audit again, which has the same for ${names}.\n`];
  const last = restartsController ? [restartController] : [];
  return `Commands:\n\n${[stepsPreface, block.text, ...next, ...last].join("\n")}`;
}

function blockText(node: ClusterNode, podCidrs: readonly string[]): string {
  const { commands, undo } = stepsFor(node, podCidrs);
  const lines = [`# ${node.name}`, commands.join(" &&\n")];
  if (undo.length > 0) lines.push(`# To go back after the drain: ${undo.join(" && ")}`);
  return `${lines.join("\n")}\n`;
}
