/**
 * The owner index: which reservations an attachment holds, without reading all of them.
 *
 * An entry is a symbolic link named `<container id>:<interface>`, whose text lists the reservations; so it is whole or
 * not there. The index is a cache: entries are checked against the reservations before anything is done with them, and
 * deleting it loses nothing.
 */

import type { Attachment, ContainerId } from "../cni/attachment.ts";
import { utf8Length } from "../cni/unicode.ts";
import { type FileStatus, isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";
import type { Owner } from "./owner.ts";
import type { OwnedReservation } from "./reservations.ts";

/** The name of an entry. */
export type EntryName = string & { readonly proof: "entry name" };

/**
 * What the index says of an owner: at least what it holds. `unlisted` owners, whose name or list is too long, have to
 * be searched for.
 */
export type Entry =
  | { readonly kind: "absent" }
  | { readonly kind: "unlisted" }
  | { readonly kind: "listed"; readonly names: readonly string[] };

const UNLISTED = "?";

/** No file name is longer, in bytes. */
const LONGEST_NAME = 255;

/** Entries younger than this, in milliseconds, may be those of a call at work under the other kind of lock. */
const FRESH = 60_000;

/** The entry for reservations that name an attachment exactly. */
export function exactEntry({ containerId, interfaceName }: Attachment): EntryName {
  return `${containerId}:${interfaceName}` as EntryName;
}

/** The entry for legacy reservations, which name only the container. */
export function legacyEntry(containerId: ContainerId): EntryName {
  return `${containerId}:` as EntryName;
}

/** The entry in which an owner's reservations are listed; `undefined` for a file that names no container. */
export function entryOf(owner: Owner): EntryName | undefined {
  if (owner.kind === "attachment") return exactEntry(owner);
  return owner.kind === "legacy" ? legacyEntry(owner.containerId) : undefined;
}

export function readEntry(system: System, location: Location, name: EntryName): Entry {
  if (!isPossible(name)) return { kind: "unlisted" };
  try {
    const text = system.readLink(join(location.owners, name));
    return text === UNLISTED ? { kind: "unlisted" } : { kind: "listed", names: text.split(" ") };
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return { kind: "absent" };
    if (isSystemError(error)) return { kind: "unlisted" };
    throw error;
  }
}

/**
 * Replaces an entry, in one step.
 *
 * @param names the reservations; none removes the entry
 * @throws SystemError
 */
export function writeEntry(
  system: System,
  location: Location,
  name: EntryName,
  names: readonly string[],
): void {
  const path = join(location.owners, name);
  if (names.length === 0) {
    removeLink(system, path);
  } else if (isPossible(name)) {
    try {
      makeLink(system, names.join(" "), path);
    } catch (error) {
      if (!isSystemError(error, "EEXIST")) throw error;
      replaceLink(system, location, names.join(" "), path);
    }
  }
}

/**
 * Brings the index in step with the result of a search. A call under the other kind of lock may announce what it reserves at
 * the same time, and that is never lost: what lists enough stays, a new entry replaces none, and one of the last
 * minute that lists too little becomes `unlisted`. Only here is the index's directory made: where it is deleted later,
 * writing an entry fails, and the index is not taken for a whole one.
 *
 * @param entries the names of the entries as they were before the search began
 * @returns whether the index was right before
 */
export function refreshEntries(
  system: System,
  location: Location,
  entries: readonly EntryName[],
  reservations: readonly OwnedReservation[],
): boolean {
  let wasRight = true;
  system.makeDirectories(location.owners);
  const held = new Map<EntryName, string[]>();
  for (const { name, owner } of reservations) {
    const entry = entryOf(owner);
    if (entry === undefined || !isPossible(entry)) continue;
    const names = held.get(entry);
    if (names === undefined) held.set(entry, [name]);
    else names.push(name);
  }
  const known = new Set(entries);
  for (const [entry, names] of held) {
    if (!known.delete(entry)) {
      wasRight = false;
      if (addEntry(system, location, entry, names)) continue;
    }
    const written = readEntry(system, location, entry);
    if (written.kind === "listed" && written.names.length !== names.length) wasRight = false;
    if (written.kind === "absent") addEntry(system, location, entry, names);
    else if (!isListedIn(written, names)) {
      if (written.kind === "listed") wasRight = false;
      const isInUse = isFresh(system, location, entry);
      writeEntry(system, location, entry, isInUse ? [UNLISTED] : names);
    }
  }
  for (const entry of known) {
    if (!isAbandoned(system, location, entry)) continue;
    wasRight = false;
    writeEntry(system, location, entry, []);
  }
  return wasRight;
}

function isListedIn(entry: Entry, names: readonly string[]): boolean {
  return entry.kind === "listed" && names.every((name) => entry.names.includes(name));
}

/** @returns false where there is one already, which stays */
function addEntry(
  system: System,
  location: Location,
  name: EntryName,
  names: readonly string[],
): boolean {
  try {
    makeLink(system, names.join(" "), join(location.owners, name));
    return true;
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    return false;
  }
}

/** The names of all entries, and of what killed calls left among them. */
export function listEntries(system: System, location: Location): readonly EntryName[] {
  try {
    return system.list(location.owners) as readonly string[] as readonly EntryName[];
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}

/**
 * Which entries list each reservation, read from all of them.
 *
 * @throws SystemError
 */
export function readListings(
  system: System,
  location: Location,
): ReadonlyMap<string, readonly EntryName[]> {
  const listings = new Map<string, EntryName[]>();
  for (const entry of listEntries(system, location)) {
    const found = readEntry(system, location, entry);
    for (const name of found.kind === "listed" ? found.names : []) {
      listings.set(name, [...(listings.get(name) ?? []), entry]);
    }
  }
  return listings;
}

function isPossible(name: EntryName): boolean {
  return utf8Length(name) <= LONGEST_NAME;
}

function isFresh(system: System, location: Location, name: EntryName): boolean {
  const found = lookAt(system, location, name);
  return found !== undefined && isYoung(system, found);
}

/** Whether an entry without an owner may be removed. Files and directories are foreign, and stay. */
function isAbandoned(system: System, location: Location, name: EntryName): boolean {
  const found = lookAt(system, location, name);
  return found?.kind === "other" && !isYoung(system, found);
}

/** Under the other kind of lock somebody may remove it at any time. */
function lookAt(system: System, location: Location, name: EntryName): FileStatus | undefined {
  try {
    return system.linkStatus(join(location.owners, name));
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}

function isYoung(system: System, { modified }: FileStatus): boolean {
  return modified > BigInt(system.now() - FRESH) * 1_000_000n;
}

/** In one step: nobody ever finds the entry missing. */
function replaceLink(system: System, location: Location, text: string, path: string): void {
  const temporary = join(location.owners, `new.${system.processId()}`);
  // One may be left from a killed process that had our id.
  removeLink(system, temporary);
  makeLink(system, text, temporary);
  system.rename(temporary, path);
}

function makeLink(system: System, text: string, path: string): void {
  try {
    system.symlink(text, path);
  } catch (error) {
    if (!isSystemError(error, "ENAMETOOLONG") || text === UNLISTED) throw error;
    system.symlink(UNLISTED, path);
  }
}

function removeLink(system: System, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENAMETOOLONG")) throw error;
  }
}
