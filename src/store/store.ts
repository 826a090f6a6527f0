/** The reservations of a network under its lock; all changes go through it. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import { type Address, formatAddress, parseAddress } from "../ipam/address.ts";
import { isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./location.ts";
import { formatOwner, isSameOwner, type Owner } from "./owner.ts";
import {
  type EntryName,
  entryOf,
  exactEntry,
  legacyEntry,
  listEntries,
  readEntry,
  readListings,
  refreshEntries,
  writeEntry,
} from "./owner-index.ts";
import {
  type HeldReservation,
  heldAmong,
  isBlankFile,
  listReservations,
  type OwnedReservation,
  type Reservation,
  readOwner,
  readOwners,
  removeReservation,
} from "./reservations.ts";
import {
  dateBack,
  type Identity,
  identityOf,
  isCurrent,
  isQuiet,
  isTrusted,
  type Others,
  othersAfter,
  readStamp,
  removeStamp,
  type Stamp,
  writeStamp,
} from "./stamp.ts";
import { withTemporary } from "./temporary.ts";

/** Errors for a resource that this process has run out of; they say nothing about the file. */
const RESOURCE_ERRORS = ["EMFILE", "ENFILE", "ENOMEM"];

/** A reservation that could not be read. */
interface Unreadable {
  readonly name: string;
  readonly owner: Extract<Owner, { readonly kind: "unknown" }>;
}

/**
 * The reservations of a network while its lock is held. It keeps the owner index in step with them; where the index
 * cannot be kept (a file system without symbolic links, a full disk), each call reads all reservations.
 */
export class Store {
  readonly system: System;
  readonly location: Location;
  #index: "kept" | "given up" = "kept";
  /** The state of the network's directory before a search; `undefined` once we changed it ourselves. */
  #identity: Identity | undefined;
  #reservations = 0;
  #ownerless = 0;
  /** Whether the index is in step with the directory, as far as is known. */
  #isInStep = false;
  /** As in the stamp. */
  #isProven = false;
  /** As in the stamp; `undefined` where others may be at work right now. */
  #others: Others | undefined;
  /** What a search has found, if there was one. */
  #searched: readonly OwnedReservation[] | undefined;
  #unreadable: readonly Unreadable[] = [];
  #announced: readonly string[] | undefined;
  /** Whether a stamp has to be recorded at the end. */
  #isOpen = false;
  readonly #warnings: string[] = [];

  /** @param isLocked whether the lock is held; without it the index is not touched */
  constructor(system: System, location: Location, isLocked: boolean) {
    this.system = system;
    this.location = location;
    if (!isLocked || !location.usesStateDirectory) this.#index = "given up";
    this.#tryIndex(() => {
      const stamp = readStamp(system, location);
      const current = stamp && isCurrent(system, location, stamp) ? stamp : undefined;
      this.#others = current?.others;
      if (current === undefined || !isTrusted(current)) {
        this.#rebuild();
        return;
      }
      this.#reservations = current.reservations;
      this.#ownerless = current.ownerless;
      this.#isInStep = true;
      this.#isProven = current.isProven;
    });
  }

  /**
   * The reservations of an attachment, in the order of `listReservations`.
   *
   * @param doubt what to do where the index lists none but may be wrong: `search` where a missed reservation would leak
   *   an address
   * @throws SystemError where the directory cannot be read
   */
  heldBy(attachment: Attachment, doubt: "search" | "trust"): readonly HeldReservation[] {
    const listed = this.#index === "kept" ? this.#listed(attachment) : undefined;
    if (listed !== undefined) {
      const held = heldAmong(this.#checked(listed), attachment);
      const isCertain =
        this.#isProven || doubt === "trust" || held.some(({ match }) => match === "exact");
      if (isCertain && this.#unreadable.length === 0) return held;
    }
    this.#tryIndex(() => this.#rebuild());
    return heldAmong(this.allOwned(), attachment);
  }

  /** What the index lists for an attachment; `undefined` where a search is needed. */
  #listed(attachment: Attachment): readonly OwnedReservation[] | undefined {
    if (this.#searched !== undefined) return undefined;
    const { system, location } = this;
    const found = listedFor(system, location, attachment);
    if (found === undefined || found.length > 0) return found;
    // "Nothing" is an answer only while the index is still whole.
    const stamp = readStamp(system, location);
    return stamp !== undefined && isCurrent(system, location, stamp) ? found : undefined;
  }

  /** Whether there may be reservations that name no container. */
  get mayHaveOwnerless(): boolean {
    return this.#index === "given up" || this.#ownerless > 0;
  }

  /** Every reservation with its owner; reads each file once a call. */
  allOwned(): readonly OwnedReservation[] {
    if (this.#searched !== undefined) return this.#searched;
    const { system, location } = this;
    return this.#checked(readOwners(system, location, listReservations(system, location)));
  }

  /** Why files could not be read; each may be a reservation of any attachment. */
  get unreadable(): readonly string[] {
    return this.#unreadable.map(({ owner }) => owner.reason);
  }

  /**
   * As `unreadable`, for those files that may be reservations of an attachment: the index lists them for it, or lists
   * them for no attachment and either does not list all of this one's, or the file could not be read for lack of a resource.
   *
   * @throws SystemError where the index cannot be read
   */
  unreadableOf(attachment: Attachment): readonly string[] {
    if (this.#unreadable.length === 0) return [];
    const listings = readListings(this.system, this.location);
    const own = [exactEntry(attachment), legacyEntry(attachment.containerId)];
    const isUnlisted = own.some((entry) => {
      return readEntry(this.system, this.location, entry).kind === "unlisted";
    });
    const mayBeOwn = ({ name, owner }: Unreadable): boolean => {
      const entries = listings.get(name);
      return (
        entries?.some((entry) => own.includes(entry)) ??
        (isUnlisted || RESOURCE_ERRORS.includes(owner.code))
      );
    };
    return this.#unreadable.filter(mayBeOwn).map(({ owner }) => owner.reason);
  }

  /**
   * Records what an attachment is about to hold, before it does: so the index lists at least what it holds, even if the
   * call is killed. Entries that list too much are noticed when they are checked.
   */
  announce(attachment: Attachment, names: readonly string[]): void {
    this.#announced = names;
    this.note(exactEntry(attachment), names);
  }

  /** Records what an attachment holds now, after `announce`. */
  settle(attachment: Attachment, names: readonly string[]): void {
    if (this.#announced === undefined || this.#announced.length === names.length) return;
    this.note(exactEntry(attachment), names);
  }

  /** Records in the index what an owner holds from now on. */
  note(entry: EntryName, names: readonly string[]): void {
    this.#change();
    this.#tryIndex(() => writeEntry(this.system, this.location, entry, names));
  }

  /**
   * Links a temporary file to the name of an address: the reservation appears whole or not at all, and only where the
   * address is free. Where the file system has no hard links, it is created exclusively, as by the reference.
   *
   * @returns whether the address was free
   * @throws CniError 999 in the reference's words: `open <path>: <reason>`
   */
  reserve(address: Address, attachment: Attachment, temporary: string): boolean {
    this.#change();
    const path = join(this.location.directory, formatAddress(address));
    try {
      this.#link(temporary, path, attachment);
      this.#reservations++;
      return true;
    } catch (error) {
      if (isSystemError(error, "EEXIST")) return false;
      // Another file system: `withTemporary` tries again in the network's directory.
      if (!isSystemError(error) || error.code === "EXDEV") throw error;
      throw internalError(`open ${path}: ${error.reason}`, error.message);
    }
  }

  /**
   * Removes a reservation. One that is gone, or has another owner meanwhile, is not an error: a process under the other
   * kind of lock was faster.
   *
   * @throws SystemError
   */
  release({ name, owner }: Pick<OwnedReservation, "name" | "owner">): void {
    this.#change();
    const { system, location } = this;
    const now = readOwner(system, location, name);
    if (now.kind !== "unknown" && !isSameOwner(now, owner)) return;
    if (removeReservation(system, location, name)) this.#reservations--;
  }

  /**
   * Removes an empty reservation, so that its address is free. It is renamed first and checked again: a process
   * under the other kind of lock may have written it meanwhile, and then it is restored.
   *
   * @returns whether it was removed
   */
  reclaim(name: string): boolean {
    this.#change();
    const { system, location } = this;
    const path = join(location.directory, name);
    const removed = withTemporary(system, location, "", (temporary) => {
      try {
        system.rename(path, temporary);
        if (isBlank(system, temporary)) return true;
        restore(system, temporary, path);
        return false;
      } catch (error) {
        // Another file system: `withTemporary` tries again in the network's directory.
        if (!isSystemError(error) || error.code === "EXDEV") throw error;
        return false;
      }
    });
    if (removed) {
      this.#reservations--;
      this.#ownerless--;
    }
    return removed;
  }

  /** Keeps a line for standard error until the lock is released: its reader must not be able to block other calls. */
  warn(text: string): void {
    this.#warnings.push(text);
  }

  /** The lines to write to standard error once the lock is released. */
  get warnings(): string {
    return this.#warnings.join("");
  }

  /** Rebuilds the index from the reservations, even where it is current. */
  rebuildIndex(): void {
    this.#tryIndex(() => this.#rebuild());
  }

  /** Records the state of the directory; to be called once, before the lock is released. */
  close(): void {
    if (!this.#isOpen) return;
    const { system, location } = this;
    this.#tryIndex(() => {
      const directory = this.#isInStep ? this.#identityInStep() : undefined;
      const owners = directory === undefined ? undefined : dateBack(system, location.owners);
      const isWritten =
        owners !== undefined &&
        writeStamp(system, location, {
          state: `${directory} ${owners}`,
          reservations: this.#reservations,
          ownerless: this.#ownerless,
          isProven: this.#isProven,
          others: this.#others ?? system.now(),
        });
      // Somebody under the other kind of lock may have left one, who cannot know what we changed.
      if (!isWritten) removeStamp(system, location);
    });
  }

  /** The state of the network's directory with which the index is in step; `undefined` where somebody wrote meanwhile. */
  #identityInStep(): Identity | undefined {
    const { system, location } = this;
    if (this.#identity !== undefined) {
      // A foreign write may have followed on our search unseen: what was old enough before that is what is proven.
      if (!system.locksOutGoPlugin && this.#isProven) return this.#identity;
      const now = identityOf(system.status(location.directory));
      if (now !== this.#identity) return undefined;
    }
    return dateBack(system, location.directory);
  }

  /** One search through everything brings the index in step with a foreign change. */
  #rebuild(): void {
    if (this.#searched !== undefined) return;
    const { system, location } = this;
    this.#open();
    const before = system.status(location.directory);
    const entries = listEntries(system, location);
    const all = this.allOwned();
    this.#searched = all;
    if (this.#unreadable.length > 0) return;
    const wasRight = refreshEntries(system, location, entries, all);
    this.#identity = identityOf(before);
    this.#reservations = all.length;
    this.#ownerless = all.filter(({ owner }) => entryOf(owner) === undefined).length;
    this.#isInStep = true;
    this.#isProven = system.locksOutGoPlugin || isQuiet(system, before);
    this.#others = othersAfter(system, this.#others, wasRight);
  }

  /**
   * A file that cannot be read may belong to any attachment. Then the index, which may list too much but not too little,
   * is left as it is and loses its stamp.
   */
  #checked(found: readonly OwnedReservation[]): readonly OwnedReservation[] {
    this.#unreadable = found.flatMap(({ name, owner }) =>
      owner.kind === "unknown" ? [{ name, owner }] : [],
    );
    if (this.#unreadable.length > 0) {
      this.#open();
      this.#index = "given up";
    }
    return found;
  }

  #change(): void {
    this.#open();
    this.#identity = undefined;
    // Beside a lock that others do not take, a foreign write may hide among our own.
    if (!this.system.locksOutGoPlugin) this.#isProven = false;
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#tryIndex(() => removeStamp(this.system, this.location));
  }

  /** The index never makes a call fail: without it, everything is searched for. */
  #tryIndex(step: () => void): void {
    if (this.#index === "given up") return;
    try {
      step();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.#index = "given up";
    }
  }

  #link(temporary: string, path: string, attachment: Attachment): void {
    try {
      this.system.link(temporary, path);
    } catch (error) {
      if (!isSystemError(error, "EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw error;
      this.system.createFile(path, formatOwner(attachment), 0o600);
    }
  }
}

/** Whether a file is blank; one that cannot be read is not. */
function isBlank(system: System, path: string): boolean {
  try {
    return isBlankFile(system, path);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** Restores the name of a file, unless it was taken meanwhile. */
function restore(system: System, temporary: string, path: string): void {
  try {
    system.link(temporary, path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code !== "EEXIST") system.rename(temporary, path);
  }
}

/** Whether an attachment holds anything; needs no lock. Where the index lists nothing, all reservations are read. */
export function isHeld(system: System, location: Location, attachment: Attachment): boolean {
  const listed = listedFor(system, location, attachment) ?? [];
  if (heldAmong(listed, attachment).length > 0) return true;
  const all = readOwners(system, location, listReservations(system, location));
  return heldAmong(all, attachment).length > 0;
}

/** The number of reservations, where it is known without reading the directory; needs no lock. */
export function knownCounts(
  system: System,
  location: Location,
): Pick<Stamp, "reservations" | "ownerless"> | undefined {
  const stamp = readStamp(system, location);
  return stamp && isTrusted(stamp) && isCurrent(system, location, stamp) ? stamp : undefined;
}

/** What the index lists for an attachment, with its owners; `undefined` where a search is needed. */
function listedFor(
  system: System,
  location: Location,
  attachment: Attachment,
): readonly OwnedReservation[] | undefined {
  const listed: Reservation[] = [];
  for (const name of [exactEntry(attachment), legacyEntry(attachment.containerId)]) {
    const entry = readEntry(system, location, name);
    if (entry.kind === "unlisted") return undefined;
    for (const held of entry.kind === "listed" ? entry.names : []) {
      const address = parseAddress(held);
      if (address !== undefined) listed.push({ address, name: held });
    }
  }
  listed.sort((a, b) => (a.name < b.name ? -1 : 1));
  return readOwners(system, location, listed);
}
