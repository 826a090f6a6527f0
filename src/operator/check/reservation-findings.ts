/** Findings on reservations. */

import { rangeOf } from "../../ipam/range-set.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { Place } from "../judgements/places.ts";
import type { Node } from "../node.ts";
import type { Code, Finding } from "./finding.ts";
import { describeContainer, describeHolder } from "./holder.ts";
import { releaseCommand } from "./remedy-command.ts";

/** The findings of all reservations on which there is none: one list, since there may be 65 000. */
const NOTHING: readonly Finding[] = [];

/** Checks every reservation of a network. */
export function reservationFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const findings: Finding[] = [];
  for (const reservation of directory.reservations) {
    for (const own of [contentFindings(node, reservation), permissionFindings(reservation)]) {
      if (own.length > 0) findings.push(...own);
    }
  }
  return [
    ...findings,
    ...duplicateFindings(node, directory),
    ...directory.misnamed.map(misnamedFinding(directory)),
  ];
}

/** A file that no plugin takes for a reservation, although somebody meant one. */
function misnamedFinding(network: NetworkDirectory): (name: string) => Finding {
  const { files } = network;
  return (name) => ({
    code: "malformed-reservation",
    network: files.network,
    path: files.pathOf(name),
    file: { network, name },
    message: `${name} is no address, so ADD hands out the one that it means`,
    remedy: "give the file the address as its name, without zeros in front, or remove it",
    commands: [],
  });
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
      const isOfSet =
        rangeSets.length === 1
          ? reservation.range !== undefined
          : rangeOf(set, reservation.address) !== undefined;
      if (!isOfSet) return NOTHING;
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
  const { owner, name } = reservation;
  if (owner.kind === "unknown") {
    return [found(reservation, "unreadable-reservation", owner.reason)];
  }
  const { text } = reservation;
  if (name !== text) {
    const { network, path } = reservation;
    const message = `ADD looks for ${text} instead, so it may hand the address out again`;
    const remedy =
      "give the file that name, which fails if the address was handed out again; then restart one of the two pods";
    // Unlike mv, ln does not replace the reservation of another pod.
    const commands = [
      {
        run: [
          ["ln", path, network.files.pathOf(text)],
          ["rm", path],
        ],
      },
    ];
    return [{ ...found(reservation, "malformed-reservation", message), remedy, commands }];
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
  const { places, whose } = node.liveness;
  const users = places.with(reservation.text);
  if (users.length > 0) return [usedFinding(finding, reservation, users)];
  if (isNobodys(node, reservation)) {
    const { files } = reservation.network;
    const words = ["check", files.network, "--repair"] as const;
    return [{ ...finding, commands: [{ files, words }], repairable: reservation }];
  }
  const text = `${message}; whether a living container has the address is not known, so it is not repaired`;
  const unknown = { ...finding, message: text };
  return whose.known().unreadable === undefined
    ? [{ ...unknown, commands: [releaseCommand(reservation)] }]
    : [{ ...unknown, remedy: "make libcni's cache readable first" }];
}

/** An empty file does not keep its address from being handed out again. */
function usedFinding(
  finding: Finding,
  { network, path }: NodeReservation,
  users: readonly Place[],
): Finding {
  const used = { ...finding, severity: "error" } as const;
  const own = users
    .flatMap(({ attachments }) => attachments)
    .find((attachment) => attachment.network === network.files.network);
  if (own !== undefined) {
    const message = `${finding.message}; ${describeContainer(own)} uses the address`;
    const remedy =
      "write its container back into it: until then ADD may hand the address out again";
    return { ...used, message, remedy, commands: [{ owner: own, path, where: "empty" }] };
  }
  const where = users.map((user) => user.where).join(" and ");
  const message = `${finding.message}; ${where} has the address, and its container is not known`;
  return { ...used, message, remedy: "restart the pod that has the address, then run check again" };
}

/** Whether no attachment that libcni's cache knows may live with the address of a reservation, and all is known. */
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
  if (status?.writableMode === undefined) return NOTHING;
  const mode = (status.writableMode & 0o777).toString(8).padStart(4, "0");
  const message = `group or others can write to it: mode ${mode}`;
  const commands = [{ run: [["chmod", "go-w", path]] }];
  return [{ ...found(reservation, "writable-by-others", message), commands }];
}

function found(reservation: NodeReservation, code: Code, message: string): Finding {
  const { network, path } = reservation;
  return { code, network: network.files.network, path, file: reservation, message };
}
