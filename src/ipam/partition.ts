/** A node's part of a range: what its podCIDR is of the cluster CIDR. */

import { internalError } from "../cni/error.ts";
import {
  type AddressRange,
  addressAt,
  formatAddressRange,
  isPartOf,
  isSame,
  sizeOf,
} from "./address.ts";
import type { Exclusions } from "./exclusions.ts";
import { addressRangeOf, formatPrefix, type Prefix } from "./prefix.ts";
import { defaultRangeOf, type Range } from "./range.ts";
import type { RangeSet, RangeSetSpec } from "./range-set.ts";
import { capacityOf } from "./round-robin.ts";

/** Where a node is in the cluster. */
export interface Partition {
  readonly clusterCidr: Prefix;
  readonly podCidr: Prefix;
  /** The file that has the podCIDR. */
  readonly source: string;
}

/**
 * Whether a network is a podCIDR of a cluster CIDR: not if it is all of it, since then every node would have the whole range.
 */
export function isPodCidrOf(network: Prefix, clusterCidr: Prefix): boolean {
  const isInside = isPartOf(addressRangeOf(network), addressRangeOf(clusterCidr));
  return isInside && network.length > clusterCidr.length;
}

/**
 * The part of a range that a node hands out. It begins and ends where the podCIDR begins and ends in the cluster CIDR, in
 * proportion: podCIDRs that do not overlap have parts that do not overlap, whatever their sizes and that of the range, and all
 * of them together are the range. What is divided includes the network and the broadcast address if the range begins after
 * the one or ends before the other, so that a range that is a subnet has equal parts.
 *
 * @returns `undefined` where the part has no address
 */
export function partOf(
  range: Range,
  { clusterCidr, podCidr }: Pick<Partition, "clusterCidr" | "podCidr">,
): Range | undefined {
  const cluster = addressRangeOf(clusterCidr);
  const own = addressRangeOf(podCidr);
  const divided = dividedOf(range);
  const at = (offset: bigint): bigint =>
    divided.first.value + (offset * sizeOf(divided)) / sizeOf(cluster);
  const begin = at(own.first.value - cluster.first.value);
  const end = at(own.last.value + 1n - cluster.first.value) - 1n;
  const first = begin > range.first.value ? begin : range.first.value;
  const last = end < range.last.value ? end : range.last.value;
  if (first > last) return undefined;
  const { family } = range;
  return {
    ...range,
    first: addressAt(family, first),
    last: addressAt(family, last),
    whole: { first: range.first, last: range.last },
  };
}

/** What is divided: the range with the network and the broadcast address of its subnet, where they are next to it. */
export function dividedOf({ first, last, prefixLength }: Range): AddressRange {
  const subnet = { address: first, length: prefixLength, mapped: false };
  const whole = addressRangeOf(subnet);
  const byDefault = defaultRangeOf(subnet);
  return {
    first: isSame(first, byDefault.first) ? whole.first : first,
    last: isSame(last, byDefault.last) ? whole.last : last,
  };
}

/**
 * The node's parts of all ranges.
 *
 * @param specs of the same sets, for their paths
 * @throws CniError 999 where a part has no address that may be handed out
 */
export function partsOf(
  sets: readonly RangeSet[],
  specs: readonly RangeSetSpec[],
  exclusions: Exclusions,
  partition: Partition,
): readonly RangeSet[] {
  return sets.map(([first, ...others], set) => {
    const part = (range: Range, index: number): Range => {
      const found = partOf(range, partition);
      if (found !== undefined && capacityOf(found, exclusions) > 0n) return found;
      throw withoutAddress(range, found, `${specs[set]?.ranges[index]?.path}`, partition);
    };
    return [part(first, 0), ...others.map((range, index) => part(range, index + 1))];
  });
}

function withoutAddress(
  range: Range,
  part: Range | undefined,
  path: string,
  { clusterCidr, podCidr, source }: Partition,
): Error {
  const found =
    part === undefined
      ? "its part has none"
      : `its part is ${formatAddressRange(part)}, which are the gateway or excluded`;
  return internalError(
    `no address of range ${formatAddressRange(range)} for this node`,
    `${found}: podCIDR ${formatPrefix(podCidr)} (${source}) of the cluster CIDR ${formatPrefix(clusterCidr)}; expected a larger range at ${path}, see host-local plan --partition`,
  );
}
