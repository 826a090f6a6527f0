/** Findings on reservations. */

import { rangeOf } from "../../ipam/range-set.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Code, Finding } from "./finding.ts";
import { describeHolder, describePlace } from "./holder.ts";
import { releaseCommand } from "./remedy-command.ts";

/** The findings of all reservations on which there is none: one list, since there may be 65 000. */
const NOTHING: readonly Finding[] = [];

/** Checks every reservation of a network. */
export function reservationFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const findings: Finding[] = [];
  for (const reservation of directory.reservations) {
    findings.push(...contentFindings(node, reservation), ...permissionFindings(reservation));
  }
  return [...findings, ...duplicateFindings(node, directory)];
}

/** An attachment has one address of each range set. */
function duplicateFindings(
  node: Node,
  { files, rangeSets, reservations }: NetworkDirectory,
): readonly Finding[] {
  return rangeSets.flatMap((set) => {
    const first = new Map<string, NodeReservation>();
    return reservations.flatMap((reservation): readonly Finding[] => {
      const { owner } = reservation;
      if (owner.kind !== "attachment") return NOTHING;
      if (rangeOf(set, reservation.address) === undefined) return NOTHING;
      const key = `${owner.containerId} ${owner.interfaceName}`;
      const other = first.get(key);
      first.set(key, other ?? reservation);
      if (other === undefined) return NOTHING;
      const holder = describeHolder(node, reservation);
      const message = `${owner.interfaceName} of ${holder} holds ${other.text} and ${reservation.text} of one range set`;
      const words = ["show", owner.containerId, "--network", files.network] as const;
      const commands = [{ files, words }];
      return [{ ...found(reservation, "duplicate-owner", message), commands }];
    });
  });
}

function contentFindings(node: Node, reservation: NodeReservation): readonly Finding[] {
  const { owner, name, text } = reservation;
  if (owner.kind === "unknown") {
    return [found(reservation, "unreadable-reservation", owner.reason)];
  }
  if (name !== text) {
    const message = `ADD looks for ${text} instead, so it may hand the address out again`;
    return [found(reservation, "malformed-reservation", message)];
  }
  return owner.kind === "unowned" ? unownedFindings(node, reservation) : NOTHING;
}

/** A file that has been empty only for a moment is not reported: the Go plugin creates a file before it writes it. */
function unownedFindings(node: Node, reservation: NodeReservation): readonly Finding[] {
  if (reservation.status?.kind !== "file") {
    return [found(reservation, "malformed-reservation", "not a regular file")];
  }
  if (!reservation.isEmpty) {
    return [found(reservation, "malformed-reservation", "the file names no container")];
  }
  if (!reservation.network.removable.has(reservation.name)) return [];
  const message = "the file is empty, so no DEL can release it";
  const finding = found(reservation, "empty-reservation", message);
  // The file does not keep its address from being handed out again.
  const users = node.liveness.places.with(reservation.text);
  if (users.length > 0) {
    const text = `${message}; the address is in use ${users.map(describePlace).join("; ")}`;
    const remedy = "restart the pod that has the address, then run check again";
    return [{ ...finding, severity: "error", message: text, remedy }];
  }
  if (isNobodys(node, reservation)) {
    const { files } = reservation.network;
    const words = ["check", files.network, "--repair"] as const;
    return [{ ...finding, commands: [{ files, words }], isRepairable: true }];
  }
  const text = `${message}; whether a living container has the address is not known, so it is not repaired`;
  const remedy = "release the address if no container has it";
  return [{ ...finding, message: text, remedy, commands: [releaseCommand(reservation)] }];
}

/** Whether libcni's cache is known in full, and none of its attachments with the address may live. */
function isNobodys({ liveness }: Node, { network, text }: NodeReservation): boolean {
  const { attachments, unreadable } = liveness.whose.known();
  const own = attachments.filter(
    (attachment) =>
      attachment.network === network.files.network && attachment.addresses.includes(text),
  );
  return (
    unreadable === undefined &&
    own.every((attachment) => liveness.livenessOfAttachment(attachment).liveness === "dead")
  );
}

function permissionFindings(reservation: NodeReservation): readonly Finding[] {
  const { status, path } = reservation;
  // A link leads elsewhere, and is a finding of its own.
  if (status?.writableMode === undefined || status.kind !== "file") return NOTHING;
  const mode = (status.writableMode & 0o777).toString(8).padStart(4, "0");
  const message = `group or others can write to it: mode ${mode}`;
  const commands = [{ run: [["chmod", "go-w", path]] }];
  return [{ ...found(reservation, "writable-by-others", message), commands }];
}

function found(reservation: NodeReservation, code: Code, message: string): Finding {
  const { network, path } = reservation;
  return { code, network: network.files.network, path, file: reservation, message };
}
