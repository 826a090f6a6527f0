/** The reservations of a network: one file for each address, named after it. */

import type { Attachment } from "../../cni/attachment.ts";
import { internalError } from "../../cni/error.ts";
import { trimSpace } from "../../cni/unicode.ts";
import {
  type Address,
  addressAt,
  compare,
  formatAddress,
  parseAddress,
} from "../../ipam/address.ts";
import { attempt, type Names, NO_HARD_LINK, recover, type System } from "../../system/system.ts";
import type { FileId } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { parentOf } from "../files/paths.ts";
import {
  contentOf,
  isHeldBy,
  type NamedOwner,
  type Owner,
  type OwnerKey,
  ownerOf,
  ownerOfUnreadable,
  parseOwner,
} from "./owner.ts";

/** An address that is held, and the name of its file, which may be another form of it. */
export interface HeldAddress {
  readonly address: Address;
  readonly name: string;
}

/** A reservation that was read. */
export interface Reservation<O = Owner> extends HeldAddress {
  readonly owner: O;
}

/** A reservation by the name of its file alone: to parse 65 000 addresses takes longer than to read them. */
export type NamedReservation = Omit<Reservation, "address">;

/** The very file of a reservation: another one under its name is another reservation. */
export interface ReservationFile {
  readonly name: string;
  readonly key: OwnerKey;
  /** `undefined` where it is not known. */
  readonly file: FileId | undefined;
}

/** No reservation is larger, in bytes: an environment variable, hence a container id, is shorter. */
export const LARGEST_RESERVATION = 256 * 1024;

/**
 * Everything in the network's directory that is named like an address, sorted by address, IPv4 first. A missing
 * directory has no reservations.
 *
 * @throws SystemError where the directory cannot be read
 */
export function listReservations({ system, directory }: NetworkFiles): readonly HeldAddress[] {
  const nothing: Names = { quads: [], others: [] };
  const { quads, others } = attempt(() => system.listAddresses(directory), nothing, "ENOENT");
  // These are in order, and neither parsed nor compared: there may be 65 000.
  const usual = quads.map((quad) => {
    const address = addressAt(4, BigInt(quad));
    return { address, name: formatAddress(address) };
  });
  const named = others.flatMap((name) => {
    const address = parseAddress(name);
    return address === undefined ? [] : [{ address, name }];
  });
  return named.length === 0 ? usual : [...usual, ...named].sort(byAddress);
}

/**
 * How many files are named like an address.
 *
 * @throws SystemError where the directory cannot be read
 */
export function countReservations({ system, directory }: NetworkFiles): number {
  const { quads, others } = system.listAddresses(directory);
  return quads.length + others.filter((name) => parseAddress(name) !== undefined).length;
}

function byAddress(a: HeldAddress, b: HeldAddress): number {
  return compare(a.address, b.address) || (a.name < b.name ? -1 : 1);
}

/**
 * Reads the owner of the reservation with this file name.
 *
 * @param expected the owner that it nearly always has: then its content is compared, and not parsed, which takes longer
 */
export function readOwner(files: NetworkFiles, name: string, expected?: Owner): Owner {
  return recover(() => {
    const content = files.system.readFile(files.pathOf(name), LARGEST_RESERVATION);
    const isExpected = expected !== undefined && content === contentOf(expected);
    return isExpected ? expected : parseOwner(content);
  }, ownerOfUnreadable);
}

/** Whether a content is empty, or only white space and NUL, as a power loss may leave it. */
export function isBlank(content: string): boolean {
  return trimSpace(content.replaceAll("\0", "")) === "";
}

/**
 * Whether the content of a file is blank.
 *
 * @throws SystemError
 */
export function isBlankFile(system: System, path: string): boolean {
  return isBlank(system.readFile(path, LARGEST_RESERVATION));
}

/** Reads which of these reservations name an attachment, in their order. */
export function readHeld(
  files: NetworkFiles,
  reservations: readonly HeldAddress[],
  attachment: Attachment,
): readonly Reservation<NamedOwner>[] {
  const expected = ownerOf(attachment);
  const owned = reservations.map((reservation) => ({
    ...reservation,
    owner: readOwner(files, reservation.name, expected),
  }));
  return heldAmong(owned, attachment);
}

/** The reservations that name an attachment, in their order. */
export function heldAmong(
  reservations: readonly Reservation[],
  attachment: Attachment,
): readonly Reservation<NamedOwner>[] {
  const isHeld = (reservation: Reservation): reservation is Reservation<NamedOwner> =>
    isHeldBy(reservation.owner, attachment);
  return reservations.filter(isHeld);
}

/**
 * The reservations that a release of the attachment removes: those that name it exactly or, only where there are none,
 * the legacy ones of its container.
 */
export function releasable(held: readonly Reservation[]): readonly Reservation[] {
  const exact = held.filter(({ owner }) => owner.kind === "attachment");
  return exact.length > 0 ? exact : held;
}

/**
 * Gives a temporary file the name of a reservation, where that is free; on a file system without hard links, its content.
 *
 * @throws SystemError EEXIST where it is not
 */
export function linkReservation(system: System, temporary: string, path: string): void {
  const create = (): void =>
    system.createFile(path, system.readFile(temporary, LARGEST_RESERVATION), 0o600);
  recover(() => system.link(temporary, path), create, ...NO_HARD_LINK);
}

/**
 * Removes the reservation with this file name.
 *
 * @returns whether it existed; a missing one is not an error
 * @throws SystemError
 */
export function removeReservation(files: NetworkFiles, name: string): boolean {
  const remove = (): boolean => {
    files.system.unlink(files.pathOf(name));
    return true;
  };
  return attempt(remove, false, "ENOENT");
}

/**
 * Whether the network's directory exists; without it nothing is reserved.
 *
 * @throws CniError 999 with the Go plugin's message where it is not a directory
 */
export function directoryExists({ system, directory }: NetworkFiles): boolean {
  const kind = recover(
    () => system.status(directory).kind,
    ({ code }) => code,
    "ENOENT",
    "ENOTDIR",
  );
  if (kind === "directory" || kind === "ENOENT") return kind === "directory";
  throw internalError(`mkdir ${firstObstacle(system, directory)}: not a directory`);
}

/** The longest part of a path that exists. */
function firstObstacle(system: System, path: string): string {
  const exists = attempt(() => system.status(path), undefined) !== undefined;
  return exists || path === parentOf(path) ? path : firstObstacle(system, parentOf(path));
}
