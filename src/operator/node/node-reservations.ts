/** What commands print of reservations on this node. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import type { Owner } from "../../store/reservations/owner.ts";
import type { NodeReservation } from "./network-directory.ts";

/** The container id of an owner; empty if the file names none. */
export function containerOf(owner: Owner): string {
  return owner.kind === "attachment" || owner.kind === "legacy" ? owner.containerId : "";
}

/** The interface of an owner; empty if the file names none. */
export function interfaceOf(owner: Owner): string {
  return owner.kind === "attachment" ? owner.interfaceName : "";
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
