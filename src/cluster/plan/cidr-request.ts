/** What a plan is asked for, and what it answers, in one family. */

import type { Family } from "../../ipam/address.ts";
import type { ClusterNetworks } from "../nodes/pod-cidr-count.ts";

/** The settings and sizes that were given, two or more of the four; those of the other options are computed. */
export interface CidrRequest extends ClusterNetworks {
  readonly family: Family;
  readonly nodeMask: number | undefined;
  readonly nodes: bigint | undefined;
  /** Per node. */
  readonly pods: bigint | undefined;
}

/** The settings of one family, and what they hold. */
export interface CidrLayout extends ClusterNetworks {
  readonly family: Family;
  /** `undefined` where neither the cluster CIDR nor the number of nodes is known. */
  readonly clusterLength: number | undefined;
  readonly nodeMask: number;
  readonly nodes: bigint | undefined;
  /** Per node. */
  readonly pods: bigint;
}

/** Something that does not fit. */
export interface Problem {
  readonly code: string;
  /** `undefined` where it concerns all families. */
  readonly family: Family | undefined;
  readonly message: string;
  /** What to choose instead. */
  readonly instead: string;
}
