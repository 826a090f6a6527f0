/** The result of `plan`, which is printed as text or as JSON. */

import type { CidrLayout } from "./cidr-request.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { Problem } from "./problem.ts";

/** A plan. */
export interface PlanResult {
  readonly asked: { readonly nodes: bigint | undefined; readonly pods: bigint | undefined };
  readonly layouts: readonly CidrLayout[];
  /** How many nodes get a podCIDR of every family; `undefined` where the cluster CIDR is not known. */
  readonly nodes: bigint | undefined;
  /** How many pods a node holds. */
  readonly pods: bigint;
  /** Per node. */
  readonly hostNetworkPods: bigint;
  /**
   * What to set kubelet's `--max-pods` to: the number asked for, or what the podCIDR holds if that is less, and the pods
   * with hostNetwork.
   */
  readonly maxPods: bigint;
  readonly change: PlannedChange | undefined;
  readonly problems: readonly Problem[];
}
