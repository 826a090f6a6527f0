/** What is wrong with reservations. */

import { formatAddress, isSame, isWithin } from "../../ipam/address.ts";
import { formatRangeSet } from "../../ipam/range-set.ts";
import { ownerText } from "../../store/owner.ts";
import { isBlankFile } from "../../store/reservations.ts";
import { isDebris } from "../../store/usage.ts";
import type { OperatorSystem, Permissions } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import {
  knowsItsRanges,
  type NetworkDirectory,
  rangesOf,
  setOf,
} from "../node/network-directories.ts";
import {
  containerOf,
  interfaceOf,
  type NodeReservation,
  requireReadable,
} from "../node/node-reservations.ts";
import type { Code, Finding, Repair } from "./finding.ts";

/**
 * Looks at every reservation of a place.
 *
 * @throws CannotLook where this user may not read them
 */
export function reservationFindings(
  system: OperatorSystem,
  directory: NetworkDirectory,
  reservations: readonly NodeReservation[],
): readonly Finding[] {
  requireReadable(reservations);
  const own = permissionsOf(system, directory.location.directory);
  return [
    ...reservations.flatMap((reservation) => [
      ...contentFindings(system, reservation),
      ...placeFindings(directory, reservation),
      ...permissionFindings(system, reservation, own),
    ]),
    ...duplicateFindings(directory, reservations),
  ];
}

function contentFindings(system: OperatorSystem, reservation: NodeReservation): readonly Finding[] {
  const { owner, path, name, address } = reservation;
  if (owner.kind === "unknown") {
    return [found(reservation, "unreadable-reservation", owner.reason)];
  }
  const canonical = formatAddress(address);
  const odd =
    name === canonical
      ? []
      : [found(reservation, "odd-name", `the file of ${canonical} is called ${name}`)];
  return owner.kind === "nobody" ? [...odd, ...ownerlessFindings(system, reservation, path)] : odd;
}

/** One that is gone by now, or empty for a moment only, is nothing to report. */
function ownerlessFindings(
  system: OperatorSystem,
  reservation: NodeReservation,
  path: string,
): readonly Finding[] {
  try {
    if (system.linkStatus(path).kind !== "file") {
      return [found(reservation, "malformed-reservation", "it is no file")];
    }
    if (!isBlankFile(system, path)) {
      return [found(reservation, "malformed-reservation", "the file names no container")];
    }
    const repair: Repair = { kind: "reservation", name: reservation.name };
    return isDebris(system, path)
      ? [
          {
            ...found(reservation, "empty-reservation", "the file is empty: no DEL can free it"),
            repair,
          },
        ]
      : [];
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    if (isSystemError(error)) return [found(reservation, "malformed-reservation", error.message)];
    throw error;
  }
}

function placeFindings(
  directory: NetworkDirectory,
  reservation: NodeReservation,
): readonly Finding[] {
  const ranges = rangesOf(directory);
  const address = formatAddress(reservation.address);
  const isGateway = ranges.some(({ gateway }) => isSame(gateway, reservation.address));
  if (isGateway) {
    return [
      found(reservation, "reserved-gateway", `${address} is the gateway${holderOf(reservation)}`),
    ];
  }
  if (!knowsItsRanges(directory) || ranges.some((range) => isWithin(reservation.address, range)))
    return [];
  return [found(reservation, "out-of-range", `${address} is in no range${holderOf(reservation)}`)];
}

function permissionFindings(
  system: OperatorSystem,
  reservation: NodeReservation,
  directory: Permissions | undefined,
): readonly Finding[] {
  const own = permissionsOf(system, reservation.path);
  if (own === undefined || directory === undefined) return [];
  const mode = (own.mode & 0o777).toString(8).padStart(4, "0");
  return [
    ...((own.mode & 0o022) === 0
      ? []
      : [
          found(
            reservation,
            "writable-by-others",
            `others than its user may write it: mode ${mode}`,
          ),
        ]),
    ...(own.user === directory.user
      ? []
      : [
          found(
            reservation,
            "foreign-user",
            `it belongs to user ${own.user}, the directory to user ${directory.user}`,
          ),
        ]),
  ];
}

/** An attachment has one address of each range set. */
function duplicateFindings(
  { networks }: NetworkDirectory,
  reservations: readonly NodeReservation[],
): readonly Finding[] {
  const findings = new Map<string, Finding>();
  for (const network of networks) {
    const first = new Map<string, NodeReservation>();
    for (const reservation of reservations) {
      const set = setOf(network, reservation.address);
      if (set === undefined || reservation.owner.kind !== "attachment") continue;
      const key = `${formatRangeSet(set)} ${ownerText(reservation.owner)}`;
      const other = first.get(key);
      if (other === undefined) {
        first.set(key, reservation);
        continue;
      }
      const message = `${containerOf(reservation.owner)} ${interfaceOf(reservation.owner)} holds ${formatAddress(other.address)} and ${formatAddress(reservation.address)} of one range set`;
      findings.set(
        `${reservation.path} ${message}`,
        found(reservation, "duplicate-owner", message),
      );
    }
  }
  return [...findings.values()];
}

function holderOf({ owner }: NodeReservation): string {
  const container = containerOf(owner);
  return container === "" ? "" : `, held by ${`${container} ${interfaceOf(owner)}`.trim()}`;
}

function found({ network, path }: NodeReservation, code: Code, message: string): Finding {
  return { code, network: network.location.network, path, message };
}

function permissionsOf(system: OperatorSystem, path: string): Permissions | undefined {
  try {
    return system.permissions(path);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
