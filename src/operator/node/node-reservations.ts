/** Reservations on this node, as commands print them. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { formatAddress } from "../../ipam/address.ts";
import type { Owner } from "../../store/reservations/owner.ts";
import type { Conclusion } from "./conclusion.ts";
import type { NodeReservation } from "./network-directory.ts";

/** The container id of an owner; empty if the file names none. */
export function containerOf(owner: Owner): string {
  return owner.kind === "attachment" || owner.kind === "legacy" ? owner.containerId : "";
}

/** The interface of an owner; empty if the file names none. */
export function interfaceOf(owner: Owner): string {
  return owner.kind === "attachment" ? owner.interfaceName : "";
}

/** How long it has been reserved, as tables show it. */
export function ageOf({ since }: NodeReservation, now: number): string {
  return since === undefined ? "-" : formatDuration(now - since);
}

/** Logs that reservations cannot be read. */
export function logUnreadable({ log }: Context, reservations: readonly NodeReservation[]): void {
  const reasons = reservations.flatMap(({ owner }) =>
    owner.kind === "unknown" ? [owner.reason] : [],
  );
  const [first] = reasons;
  if (first === undefined) return;
  const others = reasons.length > 1 ? `, and ${reasons.length - 1} more` : "";
  log(`cannot read all reservations: ${first}${others}`);
}

/** The JSON form of a reservation. */
export function describeReservation(
  reservation: NodeReservation,
  pod: string,
  { liveness, reason }: Conclusion,
): object {
  const { network, address, owner, since, range, path } = reservation;
  return {
    network: network.files.network,
    address: formatAddress(address),
    container: containerOf(owner),
    interface: interfaceOf(owner),
    pod,
    owner: owner.kind,
    since: since === undefined ? null : new Date(since).toISOString(),
    beforeBoot: reservation.isBeforeBoot,
    alive: liveness === "unknown" ? null : liveness === "alive",
    reason,
    range:
      range === undefined
        ? null
        : { first: formatAddress(range.first), last: formatAddress(range.last) },
    path,
  };
}

/**
 * Checks that this user may read the reservations.
 *
 * @throws CommandError
 */
export function requireReadable(reservations: readonly NodeReservation[]): void {
  for (const { owner } of reservations) {
    if (owner.kind === "unknown" && owner.code === "EACCES") {
      throw new CommandError(`${owner.reason}; run as root`);
    }
  }
}
