/** What an audit found, and proposes. */

import type { Expectation, NodeCidrs } from "../cluster/node-cidrs.ts";
import type { Finding } from "./node-findings.ts";
import type { Renumbering } from "./renumbering.ts";

/** All that was found. */
export interface AuditResult {
  readonly nodes: readonly NodeCidrs[];
  readonly expectation: Expectation;
  readonly findings: readonly Finding[];
  readonly renumberings: readonly Renumbering[];
}
