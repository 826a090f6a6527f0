/** A repeated ADD gets the same answer, with `"repeatedAdd": "same"`. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import { type Address, formatAddress, isSame } from "../ipam/address.ts";
import { isGateway } from "../ipam/range.ts";
import { formatRangeSet, type RangeSet, rangeOf } from "../ipam/range-set.ts";
import type { Candidate } from "../ipam/round-robin.ts";
import type { Reservation } from "../store/reservations/reservation-file.ts";

/** Whether an attachment holds an address in each of the range sets, so that an ADD is a repeated one. */
export function holdsEverySet(
  rangeSets: readonly RangeSet[],
  held: readonly Reservation[],
): boolean {
  return rangeSets.every((set) => heldIn(set, held).length > 0);
}

/**
 * The requested address of what an attachment holds in a range set, or the first.
 *
 * @throws CniError 999 if it does not hold the requested one
 */
export function heldAllocation(
  set: RangeSet,
  held: readonly Reservation[],
  requested: Address | undefined,
  { containerId, interfaceName }: Attachment,
): Candidate {
  const own = heldIn(set, held);
  const found = own.find(({ address }) => requested === undefined || isSame(address, requested));
  if (found !== undefined) return found;
  const addresses = own.map(({ address }) => formatAddress(address)).join(", ");
  throw internalError(
    `requested IP address ${requested && formatAddress(requested)} is not available in range set ${formatRangeSet(set)}`,
    `${containerId} ${interfaceName} already holds ${addresses} of it, and a repeated ADD gets no other address ("repeatedAdd": "same")`,
  );
}

/** A file without an interface may be another interface's; an address that became the gateway is of no use. */
function heldIn(set: RangeSet, held: readonly Reservation[]): readonly Candidate[] {
  return held.flatMap(({ address, owner }) => {
    const range = owner.kind === "attachment" ? rangeOf(set, address) : undefined;
    return range === undefined || isGateway(address, range) ? [] : [{ address, range }];
  });
}
