/** Findings on reservations. */

import type { Context } from "../../cli/command/command.ts";
import { formatAddress, isWithin } from "../../ipam/address.ts";
import { isGateway } from "../../ipam/range.ts";
import { formatRangeSet } from "../../ipam/range-set.ts";
import { join } from "../../store/files/paths.ts";
import { keyOfOwner } from "../../store/reservations/owner.ts";
import { isBlankFile, readOwner } from "../../store/reservations/reservation-file.ts";
import { isReclaimable } from "../../store/reservations/usage.ts";
import type { OperatorSystem, Permissions } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import { commandText, shellCommand } from "../node/command-text.ts";
import {
  hasKnownRanges,
  type NetworkDirectory,
  rangeSetOf,
  rangesOf,
} from "../node/network-directories.ts";
import {
  containerOf,
  interfaceOf,
  type NodeReservation,
  requireReadable,
} from "../node/node-reservations.ts";
import type { Code, Finding, Repair } from "./finding.ts";

/**
 * Checks every reservation of a network.
 *
 * @param isInUse whether a live container has the address of a reservation, whoever holds it
 * @throws CommandError if this user may not read them
 */
export function reservationFindings(
  context: Context,
  directory: NetworkDirectory,
  reservations: readonly NodeReservation[],
  isInUse: (reservation: NodeReservation) => boolean,
): readonly Finding[] {
  const { system } = context;
  requireReadable(reservations);
  const permissions = permissionsOf(system, directory.location.directory);
  return [
    ...reservations.flatMap((reservation) => [
      ...contentFindings(system, reservation, isInUse),
      ...rangeFindings(context, directory, reservation),
      ...permissionFindings(system, reservation, permissions),
    ]),
    ...duplicateFindings(context, directory, reservations),
  ];
}

function contentFindings(
  system: OperatorSystem,
  reservation: NodeReservation,
  isInUse: (reservation: NodeReservation) => boolean,
): readonly Finding[] {
  const { owner, name, address } = reservation;
  if (owner.kind === "unknown") {
    return [found(reservation, "unreadable-reservation", owner.reason)];
  }
  const canonical = formatAddress(address);
  const nameFindings =
    name === canonical
      ? []
      : [
          {
            ...found(reservation, "odd-name", `the file for ${canonical} is named ${name}`),
            commands: [renameCommand(reservation, canonical)],
          },
        ];
  return owner.kind === "nobody"
    ? [...nameFindings, ...ownerlessFindings(system, reservation, isInUse)]
    : nameFindings;
}

/** A file that is gone, or has been empty only for a moment, is not reported. */
function ownerlessFindings(
  system: OperatorSystem,
  reservation: NodeReservation,
  isInUse: (reservation: NodeReservation) => boolean,
): readonly Finding[] {
  const { path } = reservation;
  try {
    if (system.linkStatus(path).kind !== "file") {
      return [found(reservation, "malformed-reservation", "not a regular file")];
    }
    if (!isBlankFile(system, path)) {
      // The Go plugin creates a file before it writes it.
      const owner = readOwner(reservation.network.location, reservation.name);
      if (owner.kind !== "nobody") return [];
      return [found(reservation, "malformed-reservation", "the file names no container")];
    }
    if (!isReclaimable(system, path)) return [];
    const message = "the file is empty, so no DEL can release it";
    if (isInUse(reservation)) {
      const text = `${message}; a live container uses the address, so it is not repaired`;
      return [found(reservation, "empty-reservation", text)];
    }
    const repair: Repair = { kind: "reservation", name: reservation.name };
    return [{ ...found(reservation, "empty-reservation", message), repair }];
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    if (isSystemError(error)) return [found(reservation, "malformed-reservation", error.message)];
    throw error;
  }
}

/** `ln` fails if the name exists. */
function renameCommand({ network, path }: NodeReservation, canonical: string): string {
  const target = join(network.location.directory, canonical);
  return `${shellCommand(["ln", path, target])} && ${shellCommand(["rm", path])}`;
}

function rangeFindings(
  context: Context,
  directory: NetworkDirectory,
  reservation: NodeReservation,
): readonly Finding[] {
  const ranges = rangesOf(directory);
  const address = formatAddress(reservation.address);
  const commands = commandFor(context, reservation, "release", address);
  if (ranges.some((range) => isGateway(reservation.address, range))) {
    const message = `${address} is the gateway${holderOf(reservation)}`;
    return [{ ...found(reservation, "reserved-gateway", message), commands }];
  }
  if (!hasKnownRanges(directory) || ranges.some((range) => isWithin(reservation.address, range)))
    return [];
  const message = `${address} is outside all ranges${holderOf(reservation)}`;
  return [{ ...found(reservation, "out-of-range", message), commands }];
}

function permissionFindings(
  system: OperatorSystem,
  reservation: NodeReservation,
  directory: Permissions | undefined,
): readonly Finding[] {
  const file = permissionsOf(system, reservation.path);
  if (file === undefined || directory === undefined) return [];
  const mode = (file.mode & 0o777).toString(8).padStart(4, "0");
  return [
    ...((file.mode & 0o022) === 0
      ? []
      : [
          {
            ...found(
              reservation,
              "writable-by-others",
              `group or others can write to it: mode ${mode}`,
            ),
            commands: [shellCommand(["chmod", "go-w", reservation.path])],
          },
        ]),
    ...(file.user === directory.user
      ? []
      : [
          found(
            reservation,
            "foreign-user",
            `owned by user ${file.user}, but the directory by user ${directory.user}`,
          ),
        ]),
  ];
}

/** An attachment has one address of each range set. */
function duplicateFindings(
  context: Context,
  { networks }: NetworkDirectory,
  reservations: readonly NodeReservation[],
): readonly Finding[] {
  const findings = new Map<string, Finding>();
  for (const network of networks) {
    const first = new Map<string, NodeReservation>();
    for (const reservation of reservations) {
      const set = rangeSetOf(network, reservation.address);
      if (set === undefined || reservation.owner.kind !== "attachment") continue;
      const key = `${formatRangeSet(set)} ${keyOfOwner(reservation.owner)}`;
      const other = first.get(key);
      if (other === undefined) {
        first.set(key, reservation);
        continue;
      }
      const message = `${containerOf(reservation.owner)} ${interfaceOf(reservation.owner)} holds ${formatAddress(other.address)} and ${formatAddress(reservation.address)} of one range set`;
      const commands = commandFor(context, reservation, "show", containerOf(reservation.owner));
      findings.set(`${reservation.path} ${message}`, {
        ...found(reservation, "duplicate-owner", message),
        commands,
      });
    }
  }
  return [...findings.values()];
}

function holderOf({ owner }: NodeReservation): string {
  const container = containerOf(owner);
  return container === "" ? "" : `, held by ${`${container} ${interfaceOf(owner)}`.trim()}`;
}

function found({ network, path }: NodeReservation, code: Code, message: string): Finding {
  return { code, location: network.location, path, message };
}

/** A command of the tool for the address of a reservation, or for its container. */
function commandFor(
  context: Context,
  { network: { location } }: NodeReservation,
  command: "release" | "show",
  subject: string,
): readonly string[] {
  return [commandText(context, location, [command, subject, "--network", location.network])];
}

function permissionsOf(system: OperatorSystem, path: string): Permissions | undefined {
  try {
    return system.permissions(path);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
