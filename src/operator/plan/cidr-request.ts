/** What is asked for of a cluster's CIDRs in one family, and what comes of it. */

import type { Family } from "../../ipam/address.ts";
import type { Prefix } from "../../ipam/prefix.ts";

/** What is known of one family: two of the four, or more. */
export interface CidrRequest {
  readonly family: Family;
  readonly cluster: Prefix | undefined;
  readonly nodeMask: number | undefined;
  readonly nodes: bigint | undefined;
  readonly pods: bigint | undefined;
}

/** How one family is numbered. */
export interface CidrLayout {
  readonly family: Family;
  readonly cluster: Prefix | undefined;
  /** `undefined` where neither the cluster CIDR nor the number of nodes is known. */
  readonly clusterLength: number | undefined;
  readonly nodeMask: number;
  readonly nodes: bigint | undefined;
  readonly pods: bigint;
}
