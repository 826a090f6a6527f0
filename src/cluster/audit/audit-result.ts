/** The result of `audit`, which is printed as text or as JSON. */

import type { Expectation, NodeCidrs } from "../nodes/node-cidrs.ts";
import type { Finding } from "./node-findings.ts";
import type { Renumbering } from "./renumbering.ts";

/** The findings, and the proposals. */
export interface AuditResult {
  readonly nodes: readonly NodeCidrs[];
  readonly expectation: Expectation;
  /** Whether any node has a podCIDR; where none has, the network does not use them. */
  readonly usesPodCidrs: boolean;
  readonly findings: readonly Finding[];
  readonly renumberings: readonly Renumbering[];
  /** Whether a node is to be deleted that has addresses of another node's podCIDR. */
  readonly restartsController: boolean;
}
