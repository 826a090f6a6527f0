/** The result of `audit`, and its JSON document. */

import { formatPrefix } from "../../ipam/prefix.ts";
import type { ClusterNode, Expectation } from "../nodes/node-cidrs.ts";
import type { NodeFinding } from "./node-findings.ts";
import type { Renumbering } from "./renumbering.ts";
import { stepsFor } from "./renumbering-steps.ts";

/** The findings, and the proposals. */
export interface AuditResult {
  readonly nodes: readonly ClusterNode[];
  readonly expectation: Expectation;
  /** Whether any node has a podCIDR; where none has, the network does not use them. */
  readonly usesPodCidrs: boolean;
  /**
   * How many nodes kube-controller-manager can have a podCIDR for; `undefined` without a cluster CIDR, 0 if it does not
   * start.
   */
  readonly assignable: bigint | undefined;
  /** Why it has none; empty where it has some, or that is not known. */
  readonly obstacles: readonly string[];
  readonly findings: readonly NodeFinding[];
  /** How many nodes have a podCIDR outside the cluster CIDR. */
  readonly outside: number;
  /** Whether these are most of those that have one: then the cluster CIDR is probably another. */
  readonly isClusterDoubtful: boolean;
  /** Which nodes get other podCIDRs; empty without a cluster CIDR, and with a doubtful one unless they are forced. */
  readonly renumberings: readonly Renumbering[];
  /** Whether a node is to be deleted that has addresses of another node's podCIDR. */
  readonly restartsController: boolean;
}

/** The members are listed in docs/operator-json.md. */
export function describeAudit(audit: AuditResult): object {
  const { nodes, expectation, usesPodCidrs, findings, renumberings, restartsController } = audit;
  return {
    nodes: nodes.length,
    usesPodCidrs,
    assignable: audit.assignable ?? null,
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
    doubtfulClusterCidr: audit.isClusterDoubtful,
    renumber: renumberings.map(({ node, podCidrs }) => {
      const steps = podCidrs === undefined ? undefined : stepsFor(node, podCidrs);
      return {
        node: node.name,
        from: node.cidrs.map(({ text }) => text),
        to: podCidrs ?? null,
        steps: steps?.commands ?? [],
        undo: steps?.undo ?? [],
      };
    }),
    restartControllerManager: restartsController,
  };
}
