/** What other settings do to nodes that already have their blocks: arithmetic over windows, never over nodes. */

import { bitsOf, type Family } from "../../ipam/address.ts";
import { addressRangeOf, formatPrefix, type Prefix } from "../../ipam/prefix.ts";
import { longestMaskIn, nodesIn } from "../cluster/node-mask.ts";
import { plural } from "../output/plural.ts";
import type { Problem } from "./problem.ts";

/** The settings of one family. */
export interface Settings {
  readonly family: Family;
  readonly cluster: Prefix;
  readonly nodeMask: number;
}

/** What becomes of the nodes, in one family. */
export interface CidrChange {
  readonly family: Family;
  readonly was: Settings;
  readonly now: Settings;
  /** Nodes that have a block of the old size. */
  readonly withPodCidr: bigint;
  /** Nodes whose block is like a new one. */
  readonly keeping: bigint;
  /** Nodes whose block lies in the new cluster CIDR, but has another size. */
  readonly otherSize: bigint;
  /** Nodes whose block lies outside the new cluster CIDR, even if only in part. */
  readonly outside: bigint;
  /** New blocks that share addresses with old ones. */
  readonly cidrsTaken: bigint;
  /** New blocks that are left for further nodes. */
  readonly cidrsFree: bigint;
}

/**
 * Works out what becomes of the nodes.
 *
 * kube-controller-manager hands out blocks from the first on, so the numbered nodes are taken to have the first ones.
 * Each marks all the new blocks that it shares an address with as taken (`Occupy` of kubernetes' cidrset).
 *
 * @param nodes how many nodes there are; those beyond the old number of blocks have none
 */
export function changeOf(was: Settings, now: Settings, nodes: bigint): CidrChange {
  const { family } = now;
  const capacity = nodesIn(was.cluster.length, was.nodeMask);
  const withPodCidr = nodes < capacity ? nodes : capacity;
  const oldSize = 2n ** BigInt(bitsOf(family) - was.nodeMask);
  const newSize = 2n ** BigInt(bitsOf(family) - now.nodeMask);
  const oldStart = addressRangeOf(was.cluster).first.value;
  const { first, last } = addressRangeOf(now.cluster);
  const total = nodesIn(now.cluster.length, now.nodeMask);

  // The old blocks in use are one run of addresses; what of it lies in the new cluster CIDR takes new blocks.
  const usedEnd = oldStart + withPodCidr * oldSize;
  const from = oldStart > first.value ? oldStart : first.value;
  const until = usedEnd <= last.value ? usedEnd : last.value + 1n;
  const shared = from < until && total > 0n;
  const cidrsTaken = shared
    ? (until - 1n - first.value) / newSize - (from - first.value) / newSize + 1n
    : 0n;
  const inside = shared ? (until - from) / oldSize : 0n;
  const isSameSize = was.nodeMask === now.nodeMask;
  return {
    family,
    was,
    now,
    withPodCidr,
    keeping: isSameSize ? inside : 0n,
    otherSize: isSameSize ? 0n : inside,
    outside: withPodCidr - inside,
    cidrsTaken,
    cidrsFree: total - cidrsTaken,
  };
}

/** What is wrong with the change. */
export function changeProblems(change: CidrChange): readonly Problem[] {
  const { family, was, now, withPodCidr, otherSize, outside, cidrsTaken, cidrsFree } = change;
  const problems: Problem[] = [];
  if (outside > 0n) {
    problems.push({
      code: "outside",
      family,
      message: `${outside} of ${plural(withPodCidr, "numbered node")} would have a podCIDR outside ${formatPrefix(now.cluster)}: kube-controller-manager does not start while it finds one`,
      instead: `a cluster CIDR that contains ${formatPrefix(was.cluster)}, or renumber those nodes first (see host-local audit)`,
    });
  }
  if (cidrsTaken > 0n && was.nodeMask !== now.nodeMask) {
    problems.push({
      code: "overlap",
      family,
      message: `${plural(otherSize === 0n ? withPodCidr : otherSize, "node")} would keep a block of /${was.nodeMask}, and ${plural(cidrsTaken, "block")} of /${now.nodeMask} ${cidrsTaken === 1n ? "shares" : "share"} addresses with them: a node that gets one of these, by hand or from a second controller, has addresses of others, and traffic to them fails silently${cidrsFree === 0n ? "; no block is left for a further node" : ""}`,
      instead: keepingMask(change),
    });
  }
  return problems;
}

/** What to do about blocks of two sizes: to keep the old node mask, where that is possible. */
export function keepingMask({ family, was, now }: CidrChange): string {
  const { length } = now.cluster;
  const renumber = "renumber all nodes (see host-local audit)";
  if (was.nodeMask < length || was.nodeMask > longestMaskIn(family, length)) return renumber;
  const keep = `keep the node mask of /${was.nodeMask} (${plural(nodesIn(length, was.nodeMask), "node")} in ${formatPrefix(now.cluster)})`;
  // The one that leaves room for more nodes comes first.
  return was.nodeMask >= now.nodeMask ? `${keep}, or ${renumber}` : `${renumber}, or ${keep}`;
}
