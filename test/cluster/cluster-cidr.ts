/** Cluster CIDRs and service CIDRs, read. */

import type { ClusterCidr } from "../../src/cluster/nodes/node-cidrs.ts";
import { addressRangeOf } from "../../src/ipam/prefix.ts";
import { prefix } from "../ipam/parsed.ts";

/** A network that was written as `10.96.0.0/12`; host bits are cleared. */
export function clusterCidr(text: string): ClusterCidr {
  const read = prefix(text);
  const range = addressRangeOf(read);
  return { ...read, ...range, address: range.first };
}
