/** What is wrong with the numbering of a cluster's nodes. */

import { bitsOf, type Family, isWithin } from "../ipam/address.ts";
import { formatPrefix } from "../ipam/prefix.ts";
import { counted } from "./counted.ts";
import type { BlockGroup } from "./nested-blocks.ts";
import { podsIn } from "./node-blocks.ts";
import type { ClusterNode } from "./node-list.ts";
import type { Expectation, NodeBlock, NumberedNode } from "./node-numbering.ts";
import { printable } from "./printable.ts";

/** The problems, the gravest first. */
export const findingCodes = [
  "duplicate",
  "overlap",
  "no-pod-cidr",
  "invalid",
  "outside",
  "mask-size",
  "max-pods",
  "name",
] as const;

export type FindingCode = (typeof findingCodes)[number];

/** A problem of one node. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: "error" | "warning";
  readonly node: ClusterNode;
  /** The block that it is about; `undefined` where there is none. */
  readonly block: NodeBlock | undefined;
  /** The podCIDR as it is written, or the list of them; empty where there is none. */
  readonly podCidr: string;
  readonly message: string;
}

/** So many other nodes are named in a message. */
const NAMED = 3;

/** What Kubernetes accepts as the name of a node (RFC 1123 subdomain). */
const NODE_NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

/** Whether Kubernetes accepts this as the name of a node. */
export function isNodeName(name: string): boolean {
  return name.length <= 253 && NODE_NAME.test(name);
}

/**
 * Finds the problems of all nodes.
 *
 * @param groups the blocks of all nodes
 * @returns by kind in the order of `findingCodes`, then in the order of the nodes
 */
export function findProblems(
  nodes: readonly NumberedNode[],
  groups: readonly BlockGroup<NodeBlock>[],
  expectation: Expectation,
): readonly Finding[] {
  const shared = sharingProblems(groups);
  const findings = nodes.flatMap((numbered) => [
    ...numbered.blocks.flatMap((block) => shared.get(block) ?? []),
    ...ownProblems(numbered, expectation),
  ]);
  const rank = new Map(findingCodes.map((code, index) => [code, index]));
  return findings.sort((a, b) => (rank.get(a.code) ?? 0) - (rank.get(b.code) ?? 0));
}

/** Duplicates and overlaps, by block. */
function sharingProblems(
  groups: readonly BlockGroup<NodeBlock>[],
): ReadonlyMap<NodeBlock, readonly Finding[]> {
  const problems = new Map<NodeBlock, readonly Finding[]>();
  for (const group of groups) {
    const { members, around, within } = group;
    if (members.length === 1 && around === undefined && within.length === 0) continue;
    for (const block of members) {
      const found: Finding[] = [];
      if (members.length > 1) {
        found.push(finding("duplicate", block, `also of ${namesIn([group], block)}`));
      }
      if (around !== undefined) {
        found.push(finding("overlap", block, `lies in ${describe([around], block)}`));
      }
      if (within.length > 0) {
        found.push(finding("overlap", block, `contains ${describe(within, block)}`));
      }
      problems.set(block, found);
    }
  }
  return problems;
}

function ownProblems(
  { node, blocks, unreadable }: NumberedNode,
  { clusters, masks, families }: Expectation,
): readonly Finding[] {
  const found: Finding[] = [];
  const about = (code: FindingCode, podCidr: string, message: string): void => {
    found.push({ code, severity: "error", node, block: undefined, podCidr, message });
  };
  if (!isNodeName(node.name))
    about("name", node.podCidrs.join(","), "no name that Kubernetes accepts");
  for (const text of unreadable) about("invalid", text, "it is no network such as 10.244.1.0/24");
  if (node.podCidrs.length === 0) {
    about("no-pod-cidr", "", "pods on it get no address");
  } else {
    for (const family of families.filter((one) => !blocks.some((block) => block.family === one))) {
      about("no-pod-cidr", node.podCidrs.join(","), `pods on it get no IPv${family} address`);
    }
  }
  for (const block of blocks) {
    if (block.fault !== "") found.push(finding("invalid", block, block.fault));
    if (clusters.length > 0 && !isInside(block, clusters)) {
      found.push(finding("outside", block, outsideText(block.family, clusters)));
    }
    const mask = masks.find(({ family }) => family === block.family);
    if (mask !== undefined && mask.nodeMask !== block.length) {
      found.push(finding("mask-size", block, `a block is a /${mask.nodeMask}`));
    }
  }
  const [smallest] = [...blocks].sort(bySize);
  if (smallest !== undefined && node.pods !== undefined) {
    const holds = podsIn(smallest.family, smallest.length);
    if (node.pods > holds) {
      const message = `${counted(node.pods, "pod")} allocatable, it holds ${holds}: set kubelet's --max-pods to ${holds}`;
      found.push(finding("max-pods", smallest, message));
    }
  }
  return found;
}

/** Whether a block lies in the cluster CIDR of its family. */
export function isInside(block: NodeBlock, clusters: Expectation["clusters"]): boolean {
  return clusters.some(
    (cluster) => isWithin(block.first, cluster) && isWithin(block.last, cluster),
  );
}

function outsideText(family: Family, clusters: Expectation["clusters"]): string {
  const cluster = clusters.find(({ address }) => address.family === family);
  return cluster === undefined
    ? `the cluster CIDR has no IPv${family} network`
    : `it is not in ${formatPrefix(cluster)}`;
}

function finding(code: FindingCode, block: NodeBlock, message: string): Finding {
  const severity = code === "mask-size" || code === "max-pods" ? "warning" : "error";
  return { code, severity, node: block.node, block, podCidr: block.text, message };
}

/** Other blocks with their nodes, such as `10.244.1.0/24 of node-1 and 254 others`. */
function describe(groups: readonly BlockGroup<NodeBlock>[], block: NodeBlock): string {
  const [first] = groups;
  const sample = first?.members[0];
  if (first === undefined || sample === undefined) return "";
  const network = formatPrefix({ address: sample.first, length: sample.length, mapped: false });
  const others = groups.slice(1).reduce((count, { members }) => count + members.length, 0);
  const more = others === 0 ? "" : ` and ${counted(others, "other block")}`;
  return `${network} of ${namesIn([first], block)}${more}`;
}

/** The nodes of blocks, but for this very block. */
function namesIn(groups: readonly BlockGroup<NodeBlock>[], block: NodeBlock): string {
  // A duplicate may be of thousands of nodes, each of which names the others.
  const sample = groups.flatMap(({ members }) =>
    members.slice(0, NAMED + 1).filter((one) => one !== block),
  );
  const total = groups.reduce((count, { members }) => count + members.length, 0);
  const isMember = groups.some(
    ({ members }) => members[0] !== undefined && isAlike(members[0], block),
  );
  const named = sample.slice(0, NAMED).map(({ node }) => nameOf(node, block));
  const others = total - (isMember ? 1 : 0) - named.length;
  return `${named.join(", ")}${others > 0 ? ` and ${counted(others, "other node")}` : ""}`;
}

function nameOf(node: ClusterNode, { node: own }: NodeBlock): string {
  return node === own ? "the node itself" : printable(node.name);
}

function isAlike(a: NodeBlock, b: NodeBlock): boolean {
  return a.family === b.family && a.first.value === b.first.value && a.length === b.length;
}

/** The block with the fewest addresses comes first. */
function bySize(a: NodeBlock, b: NodeBlock): number {
  return bitsOf(a.family) - a.length - (bitsOf(b.family) - b.length);
}
