/** What new settings mean for the nodes that already have a podCIDR: computed, however many nodes there are. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import type { Family } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { addressRangeOf, formatPrefix, type Prefix } from "../../ipam/prefix.ts";
import {
  assignableRanges,
  countAssignable,
  countCidrs,
  lowestCidrs,
} from "../nodes/assignable-cidrs.ts";
import { leastOf, longestMaskIn, nodesIn } from "../nodes/node-mask.ts";
import { nodesWith } from "./cidr-layout.ts";
import type { CidrLayout, Problem } from "./cidr-request.ts";

/** The settings of a cluster for one family. */
export interface Settings extends CidrLayout {
  readonly cluster: Prefix;
}

/** What a change of settings means for the nodes, in one family. */
export interface CidrChange {
  readonly family: Family;
  readonly was: Settings;
  readonly now: Settings;
  /** Nodes that have a podCIDR. */
  readonly withPodCidr: bigint;
  /** Nodes whose podCIDR fits the new settings. */
  readonly keeping: bigint;
  /** Nodes whose podCIDR lies in the new cluster CIDR or contains it, but has another size. */
  readonly otherSize: bigint;
  /** Nodes whose podCIDR lies outside the new cluster CIDR. */
  readonly outside: bigint;
  /** How many CIDRs of the new size overlap the podCIDRs of these nodes. */
  readonly cidrsTaken: bigint;
  /** How many CIDRs of the new size are left for further nodes. */
  readonly cidrsFree: bigint;
}

/**
 * Computes what a change of settings means for the nodes.
 *
 * kube-controller-manager assigns podCIDRs from the lowest address on, so the nodes are assumed to have the first ones.
 * It accepts a podCIDR that lies in the cluster CIDR, or contains it.
 *
 * @param nodes how many nodes there are; those that the old settings have no podCIDR for have none
 */
export function changeOf(was: Settings, now: Settings, nodes: bigint): CidrChange {
  const { family } = now;
  const withPodCidr = leastOf([nodes, was.nodes]);
  const former = assignableRanges(addressRangeOf(was.cluster), was.nodeMask, was.serviceCidrs);
  const inUse = lowestCidrs(former, was.nodeMask, withPodCidr);
  const region = addressRangeOf(now.cluster);
  const outside = inUse.flatMap((range) => assignableRanges(range, was.nodeMask, [region]));
  const accepted = withPodCidr - countCidrs(outside, was.nodeMask);
  const cidrs = nodesIn(now.cluster.length, now.nodeMask);
  const cidrsTaken = cidrs - countAssignable(region, now.nodeMask, inUse);
  const isSameSize = was.nodeMask === now.nodeMask;
  return {
    family,
    was,
    now,
    withPodCidr,
    keeping: isSameSize ? accepted : 0n,
    otherSize: isSameSize ? 0n : accepted,
    outside: withPodCidr - accepted,
    cidrsTaken,
    cidrsFree: countAssignable(region, now.nodeMask, [...inUse, ...now.serviceCidrs]),
  };
}

/** The problems of a change. */
export function changeProblems(change: CidrChange): readonly Problem[] {
  const { family, was, now, withPodCidr, otherSize, outside, cidrsTaken, cidrsFree } = change;
  const problems: Problem[] = [];
  if (outside > 0n) {
    problems.push({
      code: "outside",
      family,
      message: `${decimal(outside)} of ${plural(withPodCidr, "node")} would have a podCIDR outside ${formatPrefix(now.cluster)}: kube-controller-manager does not start while there is such a node`,
      instead: `a cluster CIDR that contains the podCIDRs of all nodes, such as ${formatPrefix(was.cluster)}, or renumber those nodes first (see host-local audit), with kube-controller-manager's --allocate-node-cidrs=false meanwhile`,
    });
  }
  if (otherSize > 0n) {
    problems.push({
      code: "overlap",
      family,
      message: `${plural(otherSize, "node")} would keep a podCIDR of /${was.nodeMask}, and ${plural(cidrsTaken, "CIDR")} of /${now.nodeMask} ${verbFor(cidrsTaken, "overlaps", "overlap")} them: if a node gets one of these, by hand or from a second controller, two nodes have the same addresses, and traffic to their pods is lost silently${cidrsFree === 0n ? "; no podCIDR is left for a further node" : ""}`,
      instead: avoidTwoSizes(change),
    });
  }
  return problems;
}

/** What to do about podCIDRs of two sizes: keep the old node mask where that is possible, or renumber all nodes. */
export function avoidTwoSizes({ family, was, now }: CidrChange): string {
  const { length } = now.cluster;
  const renumber = "renumber all nodes (see host-local audit)";
  if (was.nodeMask < length || was.nodeMask > longestMaskIn(family, length)) return renumber;
  const keep = `keep the node mask of /${was.nodeMask} (${plural(nodesWith(now, length, was.nodeMask), "node")} in ${formatPrefix(now.cluster)})`;
  // What leaves room for more nodes comes first.
  return was.nodeMask >= now.nodeMask ? `${keep}, or ${renumber}` : `${renumber}, or ${keep}`;
}
