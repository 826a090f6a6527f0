/** The result of `plan`, and its JSON document. */

import type { Family } from "../../ipam/address.ts";
import { formatPrefix } from "../../ipam/prefix.ts";
import { longestMaskIn, podsIn } from "../nodes/node-mask.ts";
import { podCidrCount } from "../nodes/pod-cidr-count.ts";
import type { CidrChange, Settings } from "./cidr-change.ts";
import type { CidrLayout, Problem } from "./cidr-request.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { RangeParts } from "./range-parts.ts";

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
  /** The ranges of `--partition`. */
  readonly partitions: readonly RangeParts[];
  readonly change: PlannedChange | undefined;
  readonly problems: readonly Problem[];
}

/** How many node masks are shown on either side of the chosen one. */
const NEIGHBOURS = 3;

/** For a cluster CIDR of unknown size: how many bits shorter than the node mask its prefix may be. */
const USUAL_NODE_BITS = [4, 6, 8, 10, 12, 14, 16];

/** A choice of settings, and what they hold. */
interface CidrChoice {
  readonly clusterPrefixLength: number;
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
      family: familyName(layout.family),
      clusterCidr: layout.cluster === undefined ? null : formatPrefix(layout.cluster),
      clusterPrefixLength: layout.clusterLength ?? null,
      nodeMask: layout.nodeMask,
      nodes: layout.nodes ?? null,
      podsPerNode: layout.pods,
      choices: choicesFor(layout),
    })),
    nodes: nodes ?? null,
    podsPerNode: pods,
    maxPods,
    partitions: plan.partitions.map(({ text, parts, addresses, fewest }) => ({
      range: text,
      ...{ parts, addresses, fewest },
    })),
    change: change === undefined ? null : describeChange(change),
    problems: problems.map(({ code, family, message, instead }) => ({
      code,
      family: family === undefined ? null : familyName(family),
      message,
      instead,
    })),
  };
}

/** The node masks around the chosen one; for a cluster CIDR of unknown size, prefix lengths of cluster CIDRs. */
export function choicesFor(layout: CidrLayout): readonly CidrChoice[] {
  const { family, clusterLength, nodeMask } = layout;
  const choice = (length: number, mask: number): CidrChoice => ({
    clusterPrefixLength: length,
    nodeMask: mask,
    nodes: podCidrCount(layout, length, mask),
    podsPerNode: podsIn(family, mask),
  });
  if (clusterLength === undefined) {
    return USUAL_NODE_BITS.filter((bits) => bits <= nodeMask).map((bits) =>
      choice(nodeMask - bits, nodeMask),
    );
  }
  const first = Math.max(clusterLength, nodeMask - NEIGHBOURS);
  const last = Math.min(longestMaskIn(family, clusterLength), nodeMask + NEIGHBOURS);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    choice(clusterLength, first + index),
  );
}

/** A family as `IPv4` or `IPv6`. */
export function familyName(family: Family): string {
  return `IPv${family}`;
}

function describeChange(change: PlannedChange): object {
  return {
    existingNodes: change.existing,
    wantedNodes: change.wanted,
    furtherNodes: change.further,
    withoutPodCidr: change.without,
    withoutPodCidrOnceRenumbered: change.withoutOnceRenumbered,
    families: change.families.map(describeFamily),
  };
}

function describeFamily(change: CidrChange): object {
  const settings = (one: Settings): object => ({
    clusterCidr: formatPrefix(one.cluster),
    nodeMask: one.nodeMask,
    nodes: podCidrCount(one, one.cluster.length, one.nodeMask),
    podsPerNode: podsIn(change.family, one.nodeMask),
  });
  const { withPodCidr, keeping, otherSize, outside, cidrsTaken, cidrsFree } = change;
  return {
    family: familyName(change.family),
    was: settings(change.was),
    now: settings(change.now),
    ...{ withPodCidr, keeping, otherSize, outside, cidrsTaken, cidrsFree },
  };
}
