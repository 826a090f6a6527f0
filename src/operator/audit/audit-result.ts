/** The result of `audit`, which is printed as text or as JSON. */

import type { Expectation, NodeCidrs } from "../cluster/node-cidrs.ts";
import type { Finding } from "./node-findings.ts";
import type { Renumbering } from "./renumbering.ts";

/** The findings, and the proposals. */
export interface AuditResult {
  readonly nodes: readonly NodeCidrs[];
  readonly expectation: Expectation;
  readonly findings: readonly Finding[];
  readonly renumberings: readonly Renumbering[];
}
