/** How full the ranges are, and which are removable: empty files, which no DEL releases. */

import { type Address, formatAddressRange, isWithin } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { type Exclusions, isExcluded, without } from "../../ipam/exclusions.ts";
import { isGateway, type Range } from "../../ipam/range.ts";
import { type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import { type Candidate, capacityOf } from "../../ipam/round-robin.ts";
import { attempt, type System } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { isYoung } from "./age.ts";
import { HeldAddresses } from "./held-addresses.ts";
import { isUnowned } from "./owner.ts";
import { type HeldAddress, isBlankFile, type Reservation } from "./reservation-file.ts";

/** How many addresses of a range can be handed out, and how many are in use. */
export interface RangeUsage {
  readonly range: Range;
  readonly capacity: bigint;
  readonly used: bigint;
}

/**
 * An empty file younger than this, in milliseconds, may be one that the Go plugin is about to write: it creates the
 * file first, and may be at work without our lock.
 */
const SETTLED_AFTER = 10_000;

/** Counts the reservations of a set by their addresses. */
export function usageOf(
  set: RangeSet,
  exclusions: Exclusions,
  reservations: readonly HeldAddress[],
): readonly RangeUsage[] {
  return set.map((range) => ({
    range,
    capacity: capacityOf(range, exclusions),
    used: BigInt(
      reservations.filter(
        ({ address }) => isWithin(address, range) && isUsable(address, range, exclusions),
      ).length,
    ),
  }));
}

/** Counts the reservations of a set by the names in the network's directory; no file is read. */
export function countUsage(
  files: NetworkFiles,
  set: RangeSet,
  exclusions: Exclusions,
): readonly RangeUsage[] {
  const held = new HeldAddresses(files);
  return set.map((range) => {
    const { gateway } = range;
    const parts = without(range, exclusions);
    const isGatewayUsable = gateway !== undefined && parts.some((part) => isWithin(gateway, part));
    const gateways = isGatewayUsable ? [{ first: gateway, last: gateway }] : [];
    const used = held.countIn(range, parts) - held.countIn(range, gateways);
    return { range, capacity: capacityOf(range, exclusions), used: BigInt(used) };
  });
}

/**
 * The details of an error: counts per range, and where to look.
 *
 * @param unowned which of the used addresses are taken by files that name no container, or cannot be read
 */
export function describeUsage(
  usage: readonly RangeUsage[],
  unowned: readonly Reservation[],
  { directory }: NetworkFiles,
): string {
  const counts = usage.map(
    ({ range, used, capacity }) =>
      `${formatAddressRange(range)}: ${used} of ${decimal(capacity)} ${capacity === 1n ? "address" : "addresses"} in use`,
  );
  const unread = unowned.flatMap(({ owner }) => (owner.kind === "unknown" ? owner.reason : []));
  const nameless = unowned.length - unread.length;
  if (nameless > 0) counts.push(`${nameless} of them by files that name no container`);
  // A file that cannot be read may name a container.
  if (unread.length > 0) counts.push(`${unread.length} of them cannot be read (${unread[0]})`);
  return `${counts.join("; ")}; reservations are in ${directory}`;
}

/** Those reservations of a set that name no container. */
export function unownedIn(
  set: RangeSet,
  reservations: readonly Reservation[],
): readonly Reservation[] {
  return reservations.filter(
    ({ address, owner }) => isUnowned(owner) && rangeOf(set, address) !== undefined,
  );
}

/**
 * Whether a reservation may be removed when its set is exhausted: an empty file at an address that can be handed out. Other
 * content without an owner stays: an administrator may have written it to keep the address from being used.
 *
 * @returns its address; `undefined` where it may not be removed
 */
export function removableAt(
  files: NetworkFiles,
  { set, exclusions }: { readonly set: RangeSet; readonly exclusions: Exclusions },
  { address, name }: HeldAddress,
): Candidate | undefined {
  const isFree = isRemovable(files.system, files.pathOf(name));
  return isFree ? candidateAt(address, set, exclusions) : undefined;
}

/** An address with its range, if it may be handed out; `undefined` for any other. */
export function candidateAt(
  address: Address | undefined,
  set: RangeSet,
  exclusions: Exclusions,
): Candidate | undefined {
  const range = address && rangeOf(set, address);
  return address && range && isUsable(address, range, exclusions) ? { address, range } : undefined;
}

function isUsable(address: Address, range: Range, exclusions: Exclusions): boolean {
  return !isGateway(address, range) && !isExcluded(address, exclusions);
}

/** Whether a file is empty, and too old to be one that is just being written. */
export function isRemovable(system: System, path: string): boolean {
  return attempt(() => {
    const { kind, modified } = system.linkStatus(path);
    const written = Number(modified / 1_000_000n);
    const isSettled = kind === "file" && !isYoung(written, system.now(), SETTLED_AFTER);
    return isSettled && isBlankFile(system, path);
  }, false);
}
