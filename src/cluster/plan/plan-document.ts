/** The result of `plan`, and its JSON document. */

import { formatPrefix } from "../../ipam/prefix.ts";
import { longestMaskIn, podsIn } from "../nodes/node-mask.ts";
import type { CidrChange } from "./cidr-change.ts";
import { nodesWith } from "./cidr-layout.ts";
import type { CidrLayout, Problem } from "./cidr-request.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { RangeParts } from "./range-parts.ts";

/** The settings of one family, and where the node mask is from. */
export interface PlannedLayout extends CidrLayout {
  /** Given as an option, kube-controller-manager's default, or chosen by the plan, which has to be set then. */
  readonly nodeMaskSource: "option" | "default" | "chosen";
}

/** A plan. */
export interface PlanResult {
  readonly asked: { readonly nodes: bigint | undefined; readonly pods: bigint | undefined };
  readonly layouts: readonly PlannedLayout[];
  /** How many nodes get a podCIDR of every family. */
  readonly nodes: bigint;
  /** How many pods a node holds. */
  readonly pods: bigint;
  /** How many pods with hostNetwork a node has. */
  readonly hostNetworkPods: bigint;
  /**
   * What to set kubelet's `maxPods` to: the number asked for, or what the podCIDR holds if that is less, and the pods
   * with hostNetwork.
   */
  readonly maxPods: bigint;
  /** The ranges of `--partition`. */
  readonly partitions: readonly RangeParts[];
  readonly change: PlannedChange | undefined;
  readonly problems: readonly Problem[];
}

/** How many node masks are shown on either side of the chosen one. */
const NEIGHBOURS = 3;

/** A node mask, and what the cluster CIDR holds with it. */
interface MaskChoice {
  readonly nodeMask: number;
  readonly nodes: bigint;
  readonly podsPerNode: bigint;
}

/** The members are listed in docs/operator-json.md. */
export function describePlan(plan: PlanResult): object {
  const { asked, layouts, nodes, pods, maxPods, change, problems } = plan;
  return {
    asked: { nodes: asked.nodes ?? null, podsPerNode: asked.pods ?? null },
    families: layouts.map((layout) => ({
      family: `IPv${layout.family}`,
      clusterPrefixLength: layout.clusterLength,
      ...describeSettings(layout),
      nodeMaskSource: layout.nodeMaskSource,
      choices: choicesFor(layout),
    })),
    nodes,
    podsPerNode: pods,
    maxPods,
    partitions: plan.partitions.map(({ text, parts, addresses, fewest }) => ({
      range: text,
      ...{ parts, addresses, fewest },
    })),
    change: change === undefined ? null : describeChange(change),
    problems: problems.map(({ code, family, message, instead }) => ({
      code,
      family: family === undefined ? null : `IPv${family}`,
      message,
      instead,
    })),
  };
}

/** The node masks around the chosen one; none where no node gets a podCIDR with any of them. */
export function choicesFor(layout: CidrLayout): readonly MaskChoice[] {
  const { family, clusterLength, nodeMask } = layout;
  const first = Math.max(clusterLength, nodeMask - NEIGHBOURS);
  const last = Math.min(longestMaskIn(family, clusterLength), nodeMask + NEIGHBOURS);
  const choices = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => ({
    nodeMask: first + index,
    nodes: nodesWith(layout, clusterLength, first + index),
    podsPerNode: podsIn(family, first + index),
  }));
  return choices.some(({ nodes }) => nodes > 0n) ? choices : [];
}

function describeChange(change: PlannedChange): object {
  return {
    existingNodes: change.existing,
    wantedNodes: change.wanted,
    furtherNodes: change.further,
    withoutPodCidr: change.without,
    families: change.families.map(describeFamily),
  };
}

function describeFamily(change: CidrChange): object {
  const { withPodCidr, keeping, otherSize, outside, cidrsTaken, cidrsFree } = change;
  return {
    family: `IPv${change.family}`,
    was: describeSettings(change.was),
    now: describeSettings(change.now),
    ...{ withPodCidr, keeping, otherSize, outside, cidrsTaken, cidrsFree },
  };
}

function describeSettings({ cluster, nodeMask, nodes, pods }: CidrLayout): object {
  return {
    clusterCidr: cluster === undefined ? null : formatPrefix(cluster),
    nodeMask,
    nodes,
    podsPerNode: pods,
  };
}
