/** The reservations of a network under its lock; all changes go through it. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import { type Address, formatAddress } from "../ipam/address.ts";
import type { Reuse } from "../ipam/config.ts";
import { type Files, isSystemError, type System } from "../system/system.ts";
import { join, type Location } from "./files/paths.ts";
import { withSafeStateDirectory } from "./files/state-directory.ts";
import { sweepTemporary, withTemporary } from "./files/temporary.ts";
import { type Earlier, isNotedFile, readBeforeBoot } from "./journal/earlier-boots.ts";
import { OpenJournal } from "./journal/journal.ts";
import {
  currentSeal,
  type Key,
  keyOf,
  keyOfOwner,
  listingOf,
  ownerOfKey,
  readJournal,
  startOf,
} from "./journal/journal-file.ts";
import { allIn, allOf, othersIn, readAll } from "./reservations/directory-scan.ts";
import { formatOwner, isSameOwner, type Owner, ownerText } from "./reservations/owner.ts";
import {
  type HeldReservation,
  heldAmong,
  isBlankFile,
  type OwnedReservation,
  readOwner,
  readOwners,
  removeReservation,
} from "./reservations/reservation-file.ts";
import { noteReleased } from "./reuse/cooldown.ts";
import { rememberReleased } from "./reuse/sticky.ts";

/** Errors for a resource that this process has run out of; they say nothing about the file. */
const RESOURCE_ERRORS = ["EMFILE", "ENFILE", "ENOMEM"];

/** What a call did to a reservation. */
export interface Change {
  readonly kind: "reserved" | "released";
  /** The name of its file. */
  readonly name: string;
  readonly owner: Owner;
}

/** A reservation that could not be read. */
type Unreadable = OwnedReservation & { readonly owner: Extract<Owner, { kind: "unknown" }> };

/** The reservations of a network while its lock is held. What it changes, it notes in the journal. */
export class Store {
  readonly system: System;
  readonly location: Location;
  readonly #changes: Change[] | undefined;
  readonly #isLocked: boolean;
  readonly #journal: OpenJournal;
  /** What a search has found, if there was one. */
  #files: Files | undefined;
  readonly #warnings: string[] = [];
  readonly #reuse: Reuse | undefined;
  /** The names of the reservations that this call has released, or found released. */
  readonly #released: string[] = [];
  readonly #reserved = new Set<string>();

  /**
   * @param isLocked whether the lock is held; without it the journal is neither read nor written
   * @param reuse how addresses are used again; where it is not known, as the last call noted
   * @param changes receives what is reserved and released, in this order
   */
  constructor(
    system: System,
    location: Location,
    isLocked: boolean,
    reuse?: Reuse,
    changes?: Change[],
  ) {
    this.#reuse = reuse;
    this.system = system;
    this.location = location;
    this.#changes = changes;
    this.#isLocked = isLocked;
    this.#journal = new OpenJournal(system, location, isLocked);
  }

  /**
   * The reservations of an attachment, in the order of `listReservations`. To be called before anything is changed.
   *
   * @param doubt what to do where the journal does not tell: `search` where a missed reservation would leak an address
   * @throws SystemError where the directory cannot be read
   */
  heldBy(attachment: Attachment, doubt: "search" | "trust"): readonly HeldReservation[] {
    const journal = this.#journal.read(startOf(attachment.containerId));
    const listing = journal && listingOf(journal, attachment);
    if (listing !== undefined && (listing.isComplete || doubt === "trust")) {
      const { reservations } = listing;
      const held = heldAmong(readOwners(this.system, this.location, reservations), attachment);
      if (held.length === reservations.length) return held;
    }
    const held = heldAmong(allOf(attachment, this.#search()), attachment);
    // A DEL is repeated: the next one need not search.
    if (held.length === 0 && doubt === "search") this.#journal.holdsNothing(keyOf(attachment));
    return held;
  }

  /** Every reservation with its owner. */
  allOwned(): readonly OwnedReservation[] {
    return allIn(this.#search());
  }

  /** The reservations that name no container or only a container, or cannot be read. */
  unusual(): readonly OwnedReservation[] {
    return othersIn(this.#search());
  }

  /** Why files could not be read; each may be a reservation of any attachment. */
  get unreadable(): readonly string[] {
    return this.#unreadable.map(({ owner }) => owner.reason);
  }

  get #unreadable(): readonly Unreadable[] {
    const others = this.#files === undefined ? [] : othersIn(this.#files);
    return others.filter((one): one is Unreadable => one.owner.kind === "unknown");
  }

  /**
   * As `unreadable`, for those files that may be reservations of an attachment: the journal lists them for it, current
   * or not, or the file could not be read for lack of a resource.
   */
  unreadableOf(attachment: Attachment): readonly string[] {
    const unreadable = this.#unreadable;
    if (unreadable.length === 0) return [];
    const start = startOf(attachment.containerId);
    const journal = readJournal(this.system, this.location, start);
    const listed = journal === undefined ? [] : listingOf(journal, attachment).reservations;
    const own = new Set(listed.map(({ name }) => name));
    return unreadable
      .filter(({ name, owner }) => own.has(name) || RESOURCE_ERRORS.includes(owner.code))
      .map(({ owner }) => owner.reason);
  }

  /**
   * Links a temporary file to the name of an address: the reservation appears whole or not at all, and only where the
   * address is free. Where the file system has no hard links, it is created exclusively, as by the reference.
   *
   * @returns whether the address was free
   * @throws CniError 999 in the reference's words: `open <path>: <reason>`
   */
  reserve(address: Address, attachment: Attachment, temporary: string): boolean {
    this.#journal.change();
    const name = formatAddress(address);
    const path = join(this.location.directory, name);
    try {
      this.#journal.certainly(() => this.#link(temporary, path, attachment));
    } catch (error) {
      if (isSystemError(error, "EEXIST") && !isSameFile(this.system, temporary, path)) return false;
      // Another file system: `withTemporary` tries again in the network's directory.
      if (!isSystemError(error) || error.code === "EXDEV") throw error;
      if (error.code !== "EEXIST") {
        throw internalError(`open ${path}: ${error.reason}`, error.message);
      }
    }
    this.#reserved.add(name);
    this.#changes?.push({ kind: "reserved", name, owner: { kind: "attachment", ...attachment } });
    this.#journal.reserved(keyOf(attachment), name);
    return true;
  }

  /**
   * Removes a reservation. One that is gone, or has another owner meanwhile, is not an error: a process without this
   * lock was faster.
   *
   * @throws SystemError
   */
  release({ name, owner }: Pick<OwnedReservation, "name" | "owner">): void {
    this.#journal.change();
    const { system, location } = this;
    const now = readOwner(system, location, name);
    if (now.kind !== "unknown" && !isSameOwner(now, owner)) return;
    const isRemoved = this.#journal.certainly(() => removeReservation(system, location, name));
    if (isRemoved) this.#changes?.push({ kind: "released", name, owner });
    // What this call has reserved itself was nobody's.
    if (!this.#reserved.has(name)) this.#released.push(name);
    this.#journal.released(keyOfOwner(owner), name, isRemoved);
  }

  /**
   * Removes an empty reservation, so that its address is free.
   *
   * @returns whether it was removed
   */
  reclaim(name: string): boolean {
    return this.#moveAway(name, undefined, (moved) => isBlank(this.system, moved));
  }

  /**
   * Removes a reservation from before this boot, so that its address is free.
   *
   * @returns whether it was removed
   */
  reclaimEarlier(note: Earlier): boolean {
    return this.#moveAway(note.name, note.key, (moved) => isNotedFile(this.system, moved, note));
  }

  /**
   * An attachment uses again what it holds. What may be from before this boot is written anew, so that neither a note nor
   * a journal, not even a restored one, is about it any more.
   *
   * @throws SystemError where that is not possible
   */
  useAgain(held: readonly HeldReservation[]): void {
    const { system, location } = this;
    const noted = new Set(readBeforeBoot(system, location).map(({ name }) => name));
    const earlier = held.filter(({ name }) => noted.has(name) || this.#journal.mayBeOfEarlierBoot);
    if (earlier.length > 0) this.#journal.change();
    for (const { name, owner } of earlier) {
      withTemporary(system, location, ownerText(owner) ?? "", (temporary) =>
        system.rename(temporary, join(location.directory, name)),
      );
    }
  }

  /**
   * Removes a reservation: it is renamed first and checked again. A process without this lock may have changed it
   * meanwhile, and then it is restored.
   */
  #moveAway(name: string, key: Key | undefined, mayGo: (path: string) => boolean): boolean {
    this.#journal.change();
    const { system, location } = this;
    const path = join(location.directory, name);
    const removed = withTemporary(system, location, "", (temporary) => {
      try {
        this.#journal.certainly(() => system.rename(path, temporary));
        if (mayGo(temporary)) return true;
        this.#journal.certainly(() => restore(system, temporary, path));
        return false;
      } catch (error) {
        // Another file system: `withTemporary` tries again in the network's directory.
        if (!isSystemError(error) || error.code === "EXDEV") throw error;
        return false;
      }
    });
    if (removed) {
      const owner: Owner = key === undefined ? { kind: "nobody" } : ownerOfKey(key);
      this.#changes?.push({ kind: "released", name, owner });
      this.#journal.released(key, name, true);
    }
    return removed;
  }

  /** The names of the reservations that this call has released, or found released by the Go plugin. */
  get released(): readonly string[] {
    return this.#released;
  }

  /** Keeps a line for standard error until the lock is released: its reader must not be able to block other calls. */
  warn(text: string): void {
    this.#warnings.push(text);
  }

  /** The lines to write to standard error once the lock is released. */
  get warnings(): string {
    return this.#warnings.join("");
  }

  /** Puts the journal in step with what was changed; to be called once, before the lock is released. */
  close(): void {
    this.#noteReleased();
    this.#journal.close();
  }

  /** Notes what was released, where addresses are not to be used again at once. It never makes a call fail. */
  #noteReleased(): void {
    const names = this.#released;
    if (names.length === 0 || !this.#isLocked) return;
    const { delaySeconds, stickySeconds } = this.#reuse ?? {};
    if (delaySeconds === 0 && stickySeconds === undefined) return;
    const { system, location } = this;
    try {
      if (delaySeconds !== 0) noteReleased(system, location, names, delaySeconds);
      if (this.#reuse === undefined || stickySeconds !== undefined) {
        rememberReleased(system, location, names, stickySeconds);
      }
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }

  /** Reads everything, once a call; and writes the journal anew, unless it is current. */
  #search(): Files {
    if (this.#files !== undefined) return this.#files;
    this.#journal.read(undefined);
    const { system, location } = this;
    if (this.#isLocked) sweepTemporary(system, location);
    const files = readAll(system, location);
    this.#files = files;
    // A file that cannot be read may belong to any attachment: the journal stays as it is.
    if (this.#unreadable.length > 0) this.#journal.abandon();
    const { delaySeconds = 0, stickySeconds } = this.#reuse ?? {};
    if (delaySeconds > 0 || stickySeconds !== undefined) {
      this.#released.push(...this.#journal.missingIn(files));
    }
    this.#journal.renew(files);
    return files;
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

/** Whether two names are of the same file. A network file system may answer EEXIST to a link(2) that it has made. */
function isSameFile(system: System, path: string, other: string): boolean {
  try {
    const [a, b] = [system.linkStatus(path), system.linkStatus(other)];
    return a.inode === b.inode && a.device === b.device;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
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

/** Whether an attachment holds anything; needs no lock. Where the journal lists nothing, all reservations are read. */
export function isHeld(system: System, place: Location, attachment: Attachment): boolean {
  const location = withSafeStateDirectory(system, place);
  const journal = readJournal(system, location, startOf(attachment.containerId));
  const listed = journal === undefined ? [] : listingOf(journal, attachment).reservations;
  if (heldAmong(readOwners(system, location, listed), attachment).length > 0) return true;
  return heldAmong(allOf(attachment, readAll(system, location)), attachment).length > 0;
}

/** The number of reservations, where it is known without reading the directory; needs no lock. */
export function knownCount(system: System, place: Location): number | undefined {
  const location = withSafeStateDirectory(system, place);
  const journal = readJournal(system, location, undefined);
  return journal && currentSeal(system, location, journal)?.reservations;
}
