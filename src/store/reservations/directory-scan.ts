/** Reading all reservations of a network at once. */

import type { Attachment } from "../../cni/attachment.ts";
import { parseAddress } from "../../ipam/address.ts";
import { eachLine, linesIn } from "../../system/lines.ts";
import {
  type AddressFiles,
  attempt,
  type NamedFile,
  type OpenedFile,
  SystemError,
  WRITABLE_BY_OTHERS,
} from "../../system/system.ts";
import { type FileId, fileIdOf } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { type NamedOwner, type Owner, ownerOf, ownerOfUnreadable, parseOwner } from "./owner.ts";
import {
  heldAmong,
  LARGEST_RESERVATION,
  type NamedReservation,
  type Reservation,
} from "./reservation-file.ts";

/** The status of a reservation's file, as it was when it was opened. */
export interface OpenedStatus extends Omit<OpenedFile, "content" | "mode"> {
  readonly id: FileId;
  /** The lower twelve bits of its mode if group or others can write to it. */
  readonly writableMode: number | undefined;
}

/** A reservation whose file was opened; without a status where this user may not see it. */
export interface OpenedReservation extends NamedReservation {
  readonly status: OpenedStatus | undefined;
}

/** A reservation of the usual form that was opened. */
interface UsualReservation extends OpenedReservation {
  readonly owner: NamedOwner;
  readonly status: OpenedStatus;
  /** The address as a number, in decimal; empty where it is no IPv4 address in its canonical form. */
  readonly number: string;
}

/**
 * Reads every file of a network that is named like an address; a missing directory has none.
 *
 * @throws SystemError where the directory cannot be read
 */
export function readAll({ system, directory }: NetworkFiles, withStatus = false): AddressFiles {
  const nothing: AddressFiles = { usual: "", count: 0, others: [] };
  const read = (): AddressFiles => system.readFiles(directory, LARGEST_RESERVATION, withStatus);
  return attempt(read, nothing, "ENOENT");
}

/**
 * All reservations with the status of their files, by their names alone: to parse and sort 65 000 addresses takes longer than to
 * read them.
 *
 * @throws SystemError where the directory cannot be read
 */
export function openAll(files: NetworkFiles): readonly OpenedReservation[] {
  const { usual, others } = readAll(files, true);
  const all: OpenedReservation[] = [...eachLine(usual)].map(openedIn);
  for (const file of others) all.push(openedOther(file));
  return all;
}

/** The reservation of a file that is no usual one. */
export function openedOther({ name, file }: NamedFile): OpenedReservation {
  const status = file instanceof SystemError ? undefined : statusOf(file);
  return { name, owner: ownerInFile(file), status };
}

/**
 * Reads all reservations as `openAll` does, where each is needed.
 *
 * @throws SystemError where one of them cannot be read
 */
export function requireAll(files: NetworkFiles): readonly OpenedReservation[] {
  const all = openAll(files);
  for (const { name, owner } of all) {
    if (owner.kind === "unknown") throw new SystemError("read", files.pathOf(name), owner.code);
  }
  return all;
}

/** All reservations, in the reference's order: by the bytes of their names. */
export function allIn(files: AddressFiles): readonly Reservation[] {
  return sorted([...files.usual.split("\n").flatMap(reservationOfLine), ...othersIn(files)]);
}

/** The reservations that name an attachment, in the order of `allIn`. */
export function heldIn(
  files: AddressFiles,
  attachment: Attachment,
): readonly Reservation<NamedOwner>[] {
  const lines = linesIn(files.usual, `${attachment.containerId} `);
  const all = sorted([...lines.flatMap(reservationOfLine), ...othersIn(files)]);
  return heldAmong(all, attachment);
}

/** The reservations of no usual form: legacy ones, those that name no container, and those that could not be read. */
export function othersIn({ others }: AddressFiles): readonly Reservation[] {
  return others.flatMap(reservationOfOther);
}

function reservationOfLine(line: string): readonly Reservation[] {
  const words = line.split(" ");
  const name = words[2] ?? "";
  const address = parseAddress(name);
  return address === undefined ? [] : [{ address, name, owner: ownerIn(words) }];
}

function reservationOfOther({ name, file }: NamedFile): readonly Reservation[] {
  const address = parseAddress(name);
  return address === undefined ? [] : [{ address, name, owner: ownerInFile(file) }];
}

/** The reservation that a line with a status is about. */
export function openedIn(line: string): UsualReservation {
  const words = line.split(" ");
  const status = new UsualStatus(words[3] as FileId, words[4] ?? "");
  return { name: words[2] ?? "", owner: ownerIn(words), status, number: words[5] ?? "" };
}

/** The status of a regular file that only its owner can write to. */
class UsualStatus implements OpenedStatus {
  readonly kind = "file";
  readonly writableMode = undefined;
  readonly id: FileId;
  readonly #changed: string;

  constructor(id: FileId, changed: string) {
    this.id = id;
    this.#changed = changed;
  }

  get inode(): bigint {
    return BigInt(this.id.slice(0, this.id.indexOf(",")));
  }

  get modified(): bigint {
    return BigInt(this.id.slice(this.id.indexOf(",") + 1));
  }

  get changed(): bigint {
    return BigInt(this.#changed);
  }
}

/** The status of a file that was opened. */
function statusOf({ kind, inode, modified, changed, mode }: OpenedFile): OpenedStatus {
  const writableMode = (mode & WRITABLE_BY_OTHERS) === 0 ? undefined : mode;
  return { kind, inode, modified, changed, id: fileIdOf({ inode, modified }), writableMode };
}

/**
 * `System.readFiles` has checked the words of a line, of which there may be 65 000: to take it apart by a pattern takes longer.
 */
function ownerIn(words: readonly string[]): NamedOwner {
  return ownerOf({ containerId: words[0], interfaceName: words[1] } as Attachment);
}

function ownerInFile(file: NamedFile["file"]): Owner {
  const content = file instanceof SystemError ? file : file.content;
  return typeof content === "string" ? parseOwner(content) : ownerOfUnreadable(content);
}

function sorted(reservations: Reservation[]): readonly Reservation[] {
  return reservations.sort((a, b) => (a.name < b.name ? -1 : 1));
}
