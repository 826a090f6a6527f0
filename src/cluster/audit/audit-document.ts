/** The JSON document of `audit`. */

import { formatPrefix } from "../../ipam/prefix.ts";
import type { AuditResult } from "./audit-result.ts";
import { stepsFor } from "./renumbering-steps.ts";

/** The members are listed in docs/operator-json.md. */
export function describeAudit(audit: AuditResult): object {
  const { nodes, expectation, usesPodCidrs, findings, renumberings, restartsController } = audit;
  return {
    nodes: nodes.length,
    usesPodCidrs,
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
    renumber: renumberings.map(({ node, podCidrs, problem }) => {
      const steps = podCidrs === undefined ? undefined : stepsFor(node, podCidrs);
      return {
        node: node.name,
        from: node.podCidrs,
        to: podCidrs ?? null,
        problem: problem === "" ? null : problem,
        steps: steps?.commands ?? [],
        undo: steps?.undo ?? [],
      };
    }),
    restartControllerManager: restartsController,
  };
}
