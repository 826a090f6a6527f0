/** Reading all reservations of a network at once. */

import type { Attachment } from "../../cni/attachment.ts";
import { parseAddress } from "../../ipam/address.ts";
import { eachLine, linesIn } from "../../system/lines.ts";
import { attempt, type Files, type OtherFile } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { type Owner, ownerOf, ownerOfUnreadable, parseOwner } from "./owner.ts";
import {
  LARGEST_RESERVATION,
  type NamedReservation,
  type Reservation,
} from "./reservation-file.ts";

/**
 * Reads every file of a network; a missing directory has none.
 *
 * @throws SystemError where the directory cannot be read
 */
export function readAll({ system, directory }: NetworkFiles): Files {
  const nothing: Files = { pairs: "", count: 0, others: [] };
  return attempt(() => system.readFiles(directory, LARGEST_RESERVATION), nothing, "ENOENT");
}

/** All reservations, in the reference's order: by the bytes of their names. */
export function allIn(files: Files): readonly Reservation[] {
  return sorted([...files.pairs.split("\n").flatMap(reservationOfLine), ...othersIn(files)]);
}

/** Those reservations that may name an attachment: all of its container, and those of no usual form. */
export function allOf({ containerId }: Attachment, files: Files): readonly Reservation[] {
  const lines = linesIn(files.pairs, `${containerId} `);
  return sorted([...lines.flatMap(reservationOfLine), ...othersIn(files)]);
}

/** The reservations of no usual form: legacy ones, those that name no container, and those that could not be read. */
export function othersIn({ others }: Files): readonly Reservation[] {
  return others.flatMap(reservationOfOther);
}

/** The reservations that are not in `othersIn`, in no order and by their names alone: to parse and sort 65 000 addresses takes longer than to read. */
export function usualIn({ pairs }: Files): readonly NamedReservation[] {
  return [...eachLine(pairs)].map(namedIn);
}

/** `System.readFiles` has checked the words of a line. */
function namedIn(line: string): NamedReservation {
  const [containerId, interfaceName, name = ""] = line.split(" ");
  const attachment = { containerId, interfaceName } as Attachment;
  return { name, owner: ownerOf(attachment) };
}

function reservationOfLine(line: string): readonly Reservation[] {
  const named = namedIn(line);
  const address = parseAddress(named.name);
  return address === undefined ? [] : [{ address, ...named }];
}

function reservationOfOther({ name, content }: OtherFile): readonly Reservation[] {
  const address = parseAddress(name);
  return address === undefined ? [] : [{ address, name, owner: ownerIn(content) }];
}

function ownerIn(content: OtherFile["content"]): Owner {
  return typeof content === "string" ? parseOwner(content) : ownerOfUnreadable(content);
}

function sorted(reservations: Reservation[]): readonly Reservation[] {
  return reservations.sort((a, b) => (a.name < b.name ? -1 : 1));
}
