/** What a plan is asked for, and what it answers, in one family. */

import type { Family } from "../../ipam/address.ts";
import type { Prefix } from "../../ipam/prefix.ts";
import type { ClusterCidr } from "../nodes/node-cidrs.ts";

/** What was given: the cluster CIDR or the number of nodes, and perhaps more; the rest is computed. */
export interface CidrRequest {
  readonly family: Family;
  readonly cluster: Prefix | undefined;
  /** The service CIDRs, of either family. */
  readonly serviceCidrs: readonly ClusterCidr[];
  readonly nodeMask: number | undefined;
  readonly nodes: bigint | undefined;
  /** How many pods a node holds. */
  readonly pods: bigint | undefined;
}

/** The settings of one family, and what they hold. */
export interface CidrLayout {
  readonly family: Family;
  /** `undefined` where only its prefix length is known. */
  readonly cluster: Prefix | undefined;
  readonly clusterLength: number;
  /** The service CIDRs, of either family. */
  readonly serviceCidrs: readonly ClusterCidr[];
  readonly nodeMask: number;
  /** How many nodes get a podCIDR that overlaps no service CIDR; none if kube-controller-manager does not start. */
  readonly nodes: bigint;
  /** How many pods a node holds. */
  readonly pods: bigint;
}

/** All codes of problems. They are an interface, as those of `check`. */
export type ProblemCode =
  | "pod-cidr-too-small"
  | "mask-too-short"
  | "too-many-pod-cidrs"
  | "too-many-nodes"
  | "too-many-pods"
  | "no-private-network"
  | "part-too-small"
  | "service-cidr"
  | "outside"
  | "overlap"
  | "left-without"
  | "family-new"
  | "family-order";

/** Something that does not fit. */
export interface Problem {
  readonly code: ProblemCode;
  /** `undefined` where it concerns all families. */
  readonly family: Family | undefined;
  readonly message: string;
  /** What to choose instead. */
  readonly instead: string;
}
