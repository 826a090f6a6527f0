/** Range sets as members of the configuration. */

import { elements, type Located, memberInAnyCase, memberOrNullInAnyCase } from "../cni/json.ts";
import { parseIPField, parsePrefixField } from "./fields.ts";
import { NO_GATEWAY, type RangeSpec } from "./range.ts";
import type { RangeSetSpec } from "./range-set.ts";

/** The keys of a range. */
export const rangeKeys = ["subnet", "rangeStart", "rangeEnd", "gateway"] as const;

/** A member of a range. */
const member: (range: Located, key: (typeof rangeKeys)[number]) => Located | undefined =
  memberInAnyCase;

/**
 * A list of range sets, each a list of ranges.
 *
 * @throws CniError 999 where a member is of the wrong type, or no address or network
 */
export function rangeSetsIn(at: Located | undefined): readonly RangeSetSpec[] {
  return elements(at).map((set) => ({
    path: set.path,
    ranges: elements(set.value === null ? undefined : set).map(rangeIn),
  }));
}

/**
 * A range, or the short form for one in `ipam`.
 *
 * @throws CniError 999 where a member is of the wrong type, or no address or network
 */
export function rangeIn(range: Located): RangeSpec {
  const { path } = range;
  // In a list `null` is a range without any member.
  const at = range.value === null ? { value: {}, path } : range;
  const subnet = memberOrNullInAnyCase(at, "subnet");
  const gateway = member(at, "gateway");
  return {
    path,
    subnet: subnet && parsePrefixField(subnet),
    rangeStart: parseIPField(member(at, "rangeStart")),
    rangeEnd: parseIPField(member(at, "rangeEnd")),
    gateway: gateway?.value === NO_GATEWAY ? NO_GATEWAY : parseIPField(gateway),
  };
}
