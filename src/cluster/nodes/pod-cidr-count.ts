/** How many CIDRs of one size a cluster CIDR has, and how many of them kube-controller-manager can assign. */

import { type AddressRange, addressAt, bitsOf, sizeOf } from "../../ipam/address.ts";
import { makeExclusions, without } from "../../ipam/exclusions.ts";
import { addressRangeOf, type Prefix } from "../../ipam/prefix.ts";
import { nodesIn } from "./node-mask.ts";

/** The networks of a cluster. */
export interface ClusterNetworks {
  /** `undefined` where it was not given. */
  readonly cluster: Prefix | undefined;
  readonly serviceCidrs: readonly AddressRange[];
}

/**
 * How many podCIDRs kube-controller-manager assigns: it leaves out those that overlap the service CIDR
 * (`filterOutServiceRange` of kubernetes' range allocator).
 *
 * @param clusterLength the prefix length of the cluster CIDR, or of a larger or smaller one at the same address
 */
export function podCidrCount(
  { cluster, serviceCidrs }: ClusterNetworks,
  clusterLength: number,
  nodeMask: number,
): bigint {
  const all = nodesIn(clusterLength, nodeMask);
  if (cluster === undefined || all === 0n) return all;
  const region = addressRangeOf({ ...cluster, length: clusterLength });
  return all - cidrsTakenBy(serviceCidrs, region, nodeMask);
}

/** How many CIDRs of a region overlap ranges of addresses, which may overlap each other or lie outside. */
export function cidrsTakenBy(
  ranges: readonly AddressRange[],
  region: AddressRange,
  nodeMask: number,
): bigint {
  const taken = cidrsOver(ranges, region, nodeMask).reduce((sum, one) => sum + sizeOf(one), 0n);
  return taken / cidrSize(region, nodeMask);
}

/**
 * The addresses of the CIDRs that kube-controller-manager assigns first, from the lowest address on, beside the service
 * CIDR.
 *
 * @param count at most as many as there are, see {@link podCidrCount}
 */
export function firstPodCidrs(
  cluster: Prefix,
  serviceCidrs: readonly AddressRange[],
  nodeMask: number,
  count: bigint,
): readonly AddressRange[] {
  const region = addressRangeOf(cluster);
  const { family } = region.first;
  let left = count * cidrSize(region, nodeMask);
  const assigned: AddressRange[] = [];
  for (const free of without(region, cidrsOver(serviceCidrs, region, nodeMask))) {
    if (left === 0n) break;
    const { first } = free;
    const taken = sizeOf(free) < left ? sizeOf(free) : left;
    assigned.push({ first, last: addressAt(family, first.value + taken - 1n) });
    left -= taken;
  }
  return assigned;
}

/** The ranges within the region, widened to whole CIDRs, sorted and merged. */
function cidrsOver(
  ranges: readonly AddressRange[],
  region: AddressRange,
  nodeMask: number,
): readonly AddressRange[] {
  const { family } = region.first;
  const size = cidrSize(region, nodeMask);
  return makeExclusions(
    ranges
      .filter(({ first }) => first.family === family)
      .map((range) => ({
        from: range.first.value > region.first.value ? range.first.value : region.first.value,
        to: range.last.value < region.last.value ? range.last.value : region.last.value,
      }))
      .filter(({ from, to }) => from <= to)
      .map(({ from, to }) => ({
        first: addressAt(family, from - (from % size)),
        last: addressAt(family, to - (to % size) + size - 1n),
      })),
  );
}

function cidrSize({ first: { family } }: AddressRange, nodeMask: number): bigint {
  return 2n ** BigInt(bitsOf(family) - nodeMask);
}
