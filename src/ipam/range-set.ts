/** A range set: ranges of one family, from which an attachment gets one address. */

import { CniError, internalError } from "../cni/error.ts";
import { type Address, type Family, formatAddressRange, isWithin } from "./address.ts";
import { firstOverlap } from "./overlap.ts";
import { makeRange, type Range, type RangeSpec } from "./range.ts";

/** Ranges of one family that do not overlap, at least one; made only by `makeRangeSets`. */
export type RangeSet = readonly [Range, ...Range[]];

/** The ranges of a set as configured, with the path of the list. */
export interface RangeSetSpec {
  readonly path: string;
  readonly ranges: readonly RangeSpec[];
}

/**
 * Checks all range sets of a network, in the order of the Go plugin.
 *
 * @param oneAddressPerFamily the version as configured, where it allows only one address of each family
 * @throws CniError 999 with the path in its details
 */
export function makeRangeSets(
  specs: readonly RangeSetSpec[],
  oneAddressPerFamily: { readonly versionText: string } | undefined,
): readonly RangeSet[] {
  if (specs.length === 0) {
    throw internalError(
      "no IP ranges specified",
      "expected ipam.subnet, ipam.ranges or runtimeConfig.ipRanges; none has an entry",
    );
  }
  const sets = specs.map((spec, index) => makeRangeSet(spec, index));
  if (oneAddressPerFamily !== undefined) {
    const families = sets.map(([range]) => range.family);
    requireOnePerFamily(families, "range sets", oneAddressPerFamily.versionText);
  }
  const pair = firstOverlap(sets);
  if (pair !== undefined) {
    const shown = pair.map((at) => `${formatRangeSet(sets[at] ?? [])} (${specs[at]?.path})`);
    throw internalError(
      `range set ${pair[0]} overlaps with ${pair[1]}`,
      `${shown.join(" and ")} share addresses`,
    );
  }
  return sets;
}

/** The range of several in which an address lies. */
export function rangeOf(ranges: readonly Range[], address: Address): Range | undefined {
  for (const range of ranges) if (isWithin(address, range)) return range;
  return undefined;
}

/** The ranges of a set, as the Go plugin's error texts show them. */
export function formatRangeSet(set: readonly Range[]): string {
  return set.map(formatAddressRange).join(",");
}

function makeRangeSet(spec: RangeSetSpec, index: number): RangeSet {
  const invalid = (reason: string, details: string): CniError =>
    internalError(`invalid range set ${index}: ${reason}`, details);
  const ranges: Range[] = [];
  for (const rangeSpec of spec.ranges) {
    let range: Range;
    try {
      range = makeRange(rangeSpec);
    } catch (error) {
      if (!(error instanceof CniError)) throw error;
      throw invalid(error.message, error.details);
    }
    if (ranges[0] !== undefined && ranges[0].family !== range.family) {
      throw invalid("mixed address families", `all ranges of ${spec.path} must be of one family`);
    }
    ranges.push(range);
  }
  const [first, ...others] = ranges;
  if (first === undefined)
    throw invalid("empty range set", `expected at least one range at ${spec.path}`);
  const pair = firstOverlap(ranges.map((range) => [range]))?.flatMap((at) => ranges[at] ?? []);
  if (pair !== undefined) {
    throw invalid(
      `subnets ${pair.map(formatAddressRange).join(" and ")} overlap`,
      `ranges of ${spec.path} must not share addresses`,
    );
  }
  return [first, ...others];
}

/**
 * Refuses several addresses of one family, for versions whose results can carry only one.
 *
 * @param what what the families are those of, for the details
 * @param versionText the version as configured
 * @throws CniError 999
 */
export function requireOnePerFamily(
  families: readonly Family[],
  what: string,
  versionText: string,
): void {
  const ofFamily = (wanted: Family): number =>
    families.filter((family) => family === wanted).length;
  if (ofFamily(4) > 1 || ofFamily(6) > 1) {
    throw internalError(
      `CNI version ${versionText} does not support more than 1 address per family`,
      `found ${ofFamily(4)} IPv4 and ${ofFamily(6)} IPv6 ${what}; from cniVersion 0.3.0 on there may be several`,
    );
  }
}
