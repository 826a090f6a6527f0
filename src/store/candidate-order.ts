/** The order in which the addresses of a range set are tried for an attachment. */

import { type Address, formatAddress, parseAddress } from "../ipam/address.ts";
import type { Exclusions } from "../ipam/exclusions.ts";
import type { Range } from "../ipam/range.ts";
import type { RangeSet } from "../ipam/range-set.ts";
import { type Candidate, candidates } from "../ipam/round-robin.ts";
import type { NetworkFiles } from "./files/network-files.ts";
import { HeldAddresses } from "./reservations/held-addresses.ts";
import { candidateAt } from "./reservations/usage.ts";
import type { Preferences } from "./reuse/reuse.ts";

/** How many addresses are tried before the directory is read to see which are taken. */
const BLIND_TRIES = 8;

/**
 * All addresses of a set that may be handed out: those that the pod had, then from the cursor on those that are not avoided,
 * in the end those, the longest released first. Any may be taken, and some come twice.
 *
 * @param cursor the address handed out last
 */
export function* candidatesInOrder(
  files: NetworkFiles,
  set: RangeSet,
  exclusions: Exclusions,
  cursor: Address | undefined,
  { own, avoided }: Preferences,
): Generator<Candidate, void> {
  for (const address of own) {
    const candidate = candidateAt(address, set, exclusions);
    if (candidate !== undefined) yield candidate;
  }
  // Usually the first candidate is free, and a full range does not cost one failing call for each of its addresses.
  let tries = 0;
  let held: HeldAddresses | undefined;
  const nextFree = (range: Range, offset: number): number => {
    if (tries++ < BLIND_TRIES) return offset;
    held ??= new HeldAddresses(files);
    return held.nextFree(range, offset);
  };
  for (const candidate of candidates(set, cursor, exclusions, { nextFree })) {
    if (!avoided.has(formatAddress(candidate.address))) yield candidate;
  }
  for (const [name] of [...avoided].toSorted(([, age], [, other]) => other - age)) {
    const candidate = candidateAt(parseAddress(name), set, exclusions);
    if (candidate !== undefined) yield candidate;
  }
}
