/** Findings on reservations. */

import type { Context } from "../../cli/command/command.ts";
import { plural } from "../../cli/output/plural.ts";
import { rangeOf } from "../../ipam/range-set.ts";
import type { Liveness } from "../../store/life/conclusion.ts";
import { isAhead } from "../../store/reservations/age.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import type { Code, Finding } from "./finding.ts";
import { describeContainer, describeHolder } from "./holder.ts";
import { releaseCommand } from "./remedy-command.ts";

/** The findings of all reservations on which there is none: one list, since there may be 65 000. */
const NOTHING: readonly Finding[] = [];

/** Checks every reservation of a network. */
export function reservationFindings(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const { context } = node;
  const { reservations } = directory;
  const findings: Finding[] = [];
  for (const reservation of reservations) {
    for (const own of [contentFindings(node, reservation), permissionFindings(reservation)]) {
      if (own.length > 0) findings.push(...own);
    }
  }
  return [
    ...findings,
    ...duplicateFindings(node, directory),
    ...datedAheadFindings(context, directory),
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

/** The clock was ahead when the files were made, and has been set back. */
function datedAheadFindings(
  { system }: Context,
  { files, reservations }: NetworkDirectory,
): readonly Finding[] {
  const now = system.now();
  const ahead = reservations.filter(({ since = 0 }) => isAhead(since, now));
  const [first] = ahead;
  if (first?.since === undefined) return NOTHING;
  const message = `${plural(ahead.length, "file")} dated ahead of the clock, such as ${first.text}: ${new Date(first.since).toISOString()}`;
  return [{ code: "dated-ahead", network: files.network, path: files.directory, message }];
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
  const { context } = node;
  if (reservation.status?.kind !== "file") {
    return [found(reservation, "malformed-reservation", "not a regular file")];
  }
  if (!reservation.isEmpty) {
    return [found(reservation, "malformed-reservation", "the file names no container")];
  }
  if (!reservation.isRemovable(context.system.now())) return [];
  const message = "the file is empty, so no DEL can release it";
  const finding = found(reservation, "empty-reservation", message);
  const user = userOf(node, reservation);
  if (user === "nobody") {
    const { files } = reservation.network;
    const words = ["check", files.network, "--repair"] as const;
    return [{ ...finding, commands: [{ files, words }], repairable: reservation }];
  }
  if (user === "unknown") {
    const text = `${message}; whether a living container has the address is not known, so it is not repaired`;
    const unknown = { ...finding, message: text };
    return node.cache.unreadable === undefined
      ? [{ ...unknown, commands: [releaseCommand(reservation)] }]
      : [{ ...unknown, remedy: "make libcni's cache readable first" }];
  }
  const used = { ...finding, severity: "error" } as const;
  if (user === "a process") {
    const text = `${message}; a process has the address, and its container is not known`;
    const remedy = "restart the pod that has the address, then run check again";
    return [{ ...used, message: text, remedy }];
  }
  const text = `${message}; ${describeContainer(user)} uses the address`;
  const remedy = "write its container back into it: until then ADD may hand the address out again";
  const commands = [{ owner: user, path: reservation.path, where: "empty" }] as const;
  return [{ ...used, message: text, remedy, commands }];
}

/** Who uses an address: a container that lives, a process of which no more is known, or nobody, as far as that is known. */
type AddressUser = CachedAttachment | "a process" | "nobody" | "unknown";

/** Who uses the address of a reservation in its network, whoever holds it. */
function userOf({ cache, liveness }: Node, reservation: NodeReservation): AddressUser {
  const address = reservation.text;
  const { network } = reservation.network.files;
  const attachments = cache.attachments.filter(
    (one) => one.network === network && one.addresses.includes(address),
  );
  const livenessIn = (one: CachedAttachment): Liveness =>
    liveness.livenessOfAttachment(one).liveness;
  const attachment = attachments.find((one) => livenessIn(one) === "alive");
  if (attachment !== undefined) return attachment;
  if (liveness.livenessOf(reservation).liveness === "alive") return "a process";
  const isKnown =
    cache.unreadable === undefined && attachments.every((one) => livenessIn(one) !== "unknown");
  return isKnown ? "nobody" : "unknown";
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
