/** What a plan says. */

import type { CidrLayout } from "./cidr-request.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { Problem } from "./problem.ts";

/** All that was worked out. */
export interface PlanResult {
  readonly asked: { readonly nodes: bigint | undefined; readonly pods: bigint | undefined };
  readonly layouts: readonly CidrLayout[];
  /** What all families hold. */
  readonly nodes: bigint | undefined;
  readonly pods: bigint;
  /** What to set kubelet's `--max-pods` to: what is asked for as far as the blocks hold it, else all that they hold. */
  readonly maxPods: bigint;
  readonly change: PlannedChange | undefined;
  readonly problems: readonly Problem[];
}
