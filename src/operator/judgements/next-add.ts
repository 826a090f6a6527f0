/** What the next ADD in a network comes to, for a pod that asks for nothing: the one place that says so. */

import { exclusionsForAll } from "../../ipam/exclusions.ts";
import type { Range } from "../../ipam/range.ts";
import type { RangeSet } from "../../ipam/range-set.ts";
import { isEmptySet } from "../../ipam/round-robin.ts";
import { NoAddressError } from "../../store/no-address.ts";
import type { HeldAddress } from "../../store/reservations/reservation-file.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { Outlook } from "../facts/outlook.ts";
import type { RefusedRanges } from "./bridge-plugin.ts";
import { addUp, type Counts, countRanges, usableSets } from "./usage.ts";

/** What an ADD comes to, as far as it is known. */
export interface NextAdd {
  /** Why every ADD fails, whatever is free: the plugin does, or the bridge plugin with each address of a set. */
  readonly failure: { readonly by: "plugin" | "bridge"; readonly reason: string } | undefined;
  /** Whether the disk is the cause. */
  readonly isOfDisk: boolean;
  /** What this process could not tell. */
  readonly doubt: string | undefined;
  readonly sets: readonly SetAhead[];
}

/**
 * What an ADD finds in a range set. `refused`: the bridge plugin fails with each address of it. `empty`: by the configuration it
 * has no address. `reserved`: each is some pod's own. `full`: none is free, or may be taken.
 */
export interface SetAhead {
  readonly index: number;
  readonly kind: "free" | "full" | "reserved" | "empty" | "refused";
  /** The ranges from which an ADD works. */
  readonly ranges: readonly Range[];
  /** The counts of their addresses. */
  readonly counts: Counts;
  /** The error of the ADD, where the dry run tells it. */
  readonly error: NoAddressError | undefined;
}

/**
 * Judges by the dry run of an ADD and, where that does not tell, by what is in use.
 *
 * @param refused from which no ADD works
 * @param used the addresses that count as used
 */
export function nextAddIn(
  network: FoundNetwork,
  outlook: Outlook,
  refused: readonly RefusedRanges[],
  used: readonly HeldAddress[],
): NextAdd {
  const { rangeSets } = network;
  const sets = usableSets(rangeSets, refused).map((ranges, index): SetAhead => {
    const found = outlook.kind === "asked" ? outlook.prospects[index] : undefined;
    const error = found instanceof NoAddressError ? found : undefined;
    const [first, ...rest] = ranges;
    const about = { index, ranges, error };
    if (first === undefined) return { ...about, kind: "refused", counts: addUp([]) };
    const set: RangeSet = [first, ...rest];
    const counts = addUp(countRanges({ ...network, rangeSets: [set] }, used, [], []));
    if (isEmptySet(set, exclusionsForAll(network))) return { ...about, kind: "empty", counts };
    // Of a part of a set the dry run tells nothing.
    const isAsked = found !== undefined && ranges.length === rangeSets[index]?.length;
    const isFull = isAsked ? error !== undefined : counts.free === 0n;
    const kind = !isFull ? "free" : counts.capacity === 0n ? "reserved" : "full";
    return { ...about, kind, counts };
  });
  if (outlook.kind === "fails") {
    const failure = { by: "plugin", reason: outlook.reason } as const;
    return { failure, isOfDisk: outlook.isOfDisk, doubt: undefined, sets };
  }
  return {
    failure: refusalOf(network, sets, refused),
    isOfDisk: false,
    doubt: outlook.doubt,
    sets,
  };
}

/** Why every ADD fails: no ADD works from any range of a set; `undefined` where each set has a usable one. */
function refusalOf(
  { rangeSets }: FoundNetwork,
  sets: readonly SetAhead[],
  refused: readonly RefusedRanges[],
): NextAdd["failure"] {
  const whole = rangeSets[sets.findIndex(({ kind }) => kind === "refused")];
  const reason = refused.find(({ ranges }) => ranges.some((one) => whole?.includes(one)))?.reason;
  return reason === undefined ? undefined : { by: "bridge", reason };
}
