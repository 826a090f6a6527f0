/** What the next ADD in a network comes to, for a pod that asks for nothing: the one place that says so. */

import { exclusionsForAll } from "../../ipam/exclusions.ts";
import type { RangeSet } from "../../ipam/range-set.ts";
import { isEmptySet } from "../../ipam/round-robin.ts";
import { NoAddressError } from "../../store/no-address.ts";
import type { HeldAddress } from "../../store/reservations/reservation-file.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import type { Outlook } from "../facts/outlook.ts";
import { addUp, type Counts, countRanges } from "./usage.ts";

/** What an ADD comes to, as far as it is known. */
export interface NextAdd {
  /** Why every ADD fails, whatever is free. */
  readonly failure: string | undefined;
  /** What this process could not tell. */
  readonly doubt: string | undefined;
  readonly sets: readonly SetAhead[];
}

/**
 * What an ADD finds in a range set. `empty`: by the configuration it has no address. `reserved`: each is some pod's own. `full`:
 * none is free, or may be taken.
 */
export interface SetAhead {
  readonly index: number;
  readonly kind: "free" | "full" | "reserved" | "empty";
  readonly ranges: RangeSet;
  /** The counts of their addresses. */
  readonly counts: Counts;
  /** The error of the ADD, where the dry run tells it. */
  readonly error: NoAddressError | undefined;
}

/**
 * Judges by the dry run of an ADD and, where that does not tell, by what is in use.
 *
 * @param used the addresses that count as used
 */
export function nextAddIn(
  network: FoundNetwork,
  outlook: Outlook,
  used: readonly HeldAddress[],
): NextAdd {
  const { rangeSets } = network;
  const sets = rangeSets.map((ranges, index): SetAhead => {
    const found = outlook.kind === "asked" ? outlook.prospects[index] : undefined;
    const error = found instanceof NoAddressError ? found : undefined;
    const counts = addUp(countRanges({ ...network, rangeSets: [ranges] }, used));
    const about = { index, ranges, error, counts };
    if (isEmptySet(ranges, exclusionsForAll(network))) return { ...about, kind: "empty" };
    const isFull = found !== undefined ? error !== undefined : counts.free === 0n;
    const kind = !isFull ? "free" : counts.capacity === 0n ? "reserved" : "full";
    return { ...about, kind };
  });
  if (outlook.kind === "fails") {
    return { failure: outlook.reason, doubt: undefined, sets };
  }
  return { failure: undefined, doubt: outlook.doubt, sets };
}
