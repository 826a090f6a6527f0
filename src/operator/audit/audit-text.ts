/** The text of `audit`. */

import { formatPrefix } from "../../ipam/prefix.ts";
import type { Expectation } from "../cluster/node-cidrs.ts";
import { plural } from "../output/plural.ts";
import { printable } from "../output/printable.ts";
import { columns, formatTable } from "../output/table.ts";
import type { Paint } from "../output/terminal.ts";
import type { AuditResult } from "./audit-result.ts";
import { type Finding, type FindingCode, findingCodes } from "./node-findings.ts";
import type { Renumbering } from "./renumbering.ts";
import { stepsFor, stepsPreface } from "./renumbering-steps.ts";

/** What a code means, and what follows from it. */
const meanings: Readonly<Record<FindingCode, string>> = {
  duplicate: "several nodes have the same podCIDR; traffic to their pods is lost",
  overlap: "the podCIDR overlaps that of another node; traffic to their pods is lost",
  "no-pod-cidr": "a podCIDR is missing; pods get no address",
  invalid: "the plugin rejects the podCIDR; pods get no address",
  outside:
    "the podCIDR is outside the cluster CIDR; kube-controller-manager does not start while there is such a node",
  "mask-size":
    "the podCIDR does not have the size of the node mask; it may take the place of several",
  "max-pods": "the scheduler may place more pods on the node than it has addresses",
  name: "not a valid node name; this is not the output of kubectl",
};

/** The findings, grouped by code, the proposals, and the commands that apply them. */
export function auditText(audit: AuditResult, paint: Paint): string {
  const { nodes, expectation, findings, renumberings } = audit;
  const withFindings = new Set(findings.map(({ node }) => node)).size;
  const verdict =
    withFindings === 0
      ? paint("No problems found.", "good")
      : `${plural(withFindings, "node")} with problems.`;
  return [
    `${plural(nodes.length, "node")}, ${formatExpectation(expectation)}. ${verdict}\n`,
    ...findingCodes.map((code) => groupText(code, findings, paint)),
    proposalsText(renumberings),
    stepsText(renumberings),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function formatExpectation({ clusters, masks }: Expectation): string {
  const cidrs = clusters.map(formatPrefix).join(",");
  const sizes = masks.map(({ family, nodeMask, source }) => {
    const origin = source === "option" ? "" : `, the ${source}`;
    return `node mask /${nodeMask} (IPv${family}${origin})`;
  });
  return [cidrs === "" ? "no cluster CIDR given" : `cluster CIDR ${cidrs}`, ...sizes].join(", ");
}

function groupText(code: FindingCode, findings: readonly Finding[], paint: Paint): string {
  const group = findings.filter((finding) => finding.code === code);
  const [first] = group;
  if (first === undefined) return "";
  const title = paint(`${code} (${first.severity}, ${group.length})`, first.severity);
  const rows = group.map(({ node, podCidr, message }) => [
    printable(node.name),
    podCidr === "" ? "-" : printable(podCidr),
    message,
  ]);
  return `${title}: ${meanings[code]}\n\n${formatTable(columns("NODE", "PODCIDR", "PROBLEM"), rows)}`;
}

function proposalsText(renumberings: readonly Renumbering[]): string {
  if (renumberings.length === 0) return "";
  const rows = renumberings.map(({ node, podCidrs, problem }) => [
    printable(node.name),
    node.podCidrs.map(printable).join(",") || "-",
    podCidrs?.join(",") ?? `none: ${problem}`,
  ]);
  return `${plural(renumberings.length, "node")} to renumber:\n\n${formatTable(columns("NODE", "FROM", "TO"), rows)}`;
}

function stepsText(renumberings: readonly Renumbering[]): string {
  const steps = renumberings.flatMap(({ node, podCidrs }) =>
    podCidrs === undefined
      ? []
      : [`# ${printable(node.name)}\n${stepsFor(node, podCidrs).join(" &&\n")}\n`],
  );
  return steps.length === 0 ? "" : `Commands:\n\n${[stepsPreface, ...steps].join("\n")}`;
}
