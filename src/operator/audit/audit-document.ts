/** The JSON document of `audit`. */

import { formatPrefix } from "../../ipam/prefix.ts";
import type { AuditResult } from "./audit-result.ts";
import { stepsFor } from "./renumbering-steps.ts";

/** The members are listed in docs/operator-json.md. */
export function describeAudit({ nodes, expectation, findings, renumberings }: AuditResult): object {
  return {
    nodes: nodes.length,
    clusterCidrs: expectation.clusters.map(formatPrefix),
    nodeMasks: expectation.masks.map(({ family, nodeMask, source }) => ({
      family: `IPv${family}`,
      nodeMask,
      source,
    })),
    problems: findings.map(({ code, severity, node, podCidr, message }) => ({
      code,
      severity,
      node: node.name,
      podCidr: podCidr === "" ? null : podCidr,
      message,
    })),
    renumber: renumberings.map(({ node, podCidrs, problem }) => ({
      node: node.name,
      from: node.podCidrs,
      to: podCidrs ?? null,
      problem: problem === "" ? null : problem,
      steps: podCidrs === undefined ? [] : stepsFor(node, podCidrs),
    })),
  };
}
