/** The reservations of a network under its lock; all changes go through it. */

import type { Attachment } from "../cni/attachment.ts";
import { internalError } from "../cni/error.ts";
import { utf8Length } from "../cni/unicode.ts";
import { type Address, formatAddress } from "../ipam/address.ts";
import type { Reuse } from "../ipam/config.ts";
import { type Files, isSystemError, type Lines, type System } from "../system/system.ts";
import {
  type Earlier,
  isNotedFile,
  noteBeforeBoot,
  readBeforeBoot,
  removeBeforeBoot,
} from "./before-boot.ts";
import { bootId, type MachineId, machineId } from "./boot.ts";
import { dateBack } from "./identity.ts";
import {
  currentSeal,
  heldLine,
  isCurrent,
  isOfAnotherForm,
  type Key,
  keyOf,
  keyOfOwner,
  type Listing,
  listedIn,
  listingOf,
  nothingLine,
  ownerOfKey,
  readJournal,
  releasedLine,
  renewJournal,
  requireJournal,
  SEVERAL,
  type Seal,
  sealJournal,
  sealOf,
  startOf,
} from "./journal.ts";
import { join, type Location } from "./location.ts";
import { removeOldIndex } from "./old-index.ts";
import { formatOwner, isSameOwner, type Owner, ownerText } from "./owner.ts";
import { noteReleased } from "./released.ts";
import {
  type HeldReservation,
  heldAmong,
  isBlankFile,
  type OwnedReservation,
  readOwner,
  readOwners,
  removeReservation,
} from "./reservations.ts";
import { allIn, allOf, othersIn, readAll } from "./search.ts";
import { withSafeStateDirectory } from "./state-directory.ts";
import { rememberReleased } from "./sticky.ts";
import { sweepTemporary, withTemporary } from "./temporary.ts";

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

/**
 * The reservations of a network while its lock is held. It keeps the journal; where that is not possible (a full disk, a
 * lock that the Go plugin does not take), calls read all reservations.
 */
export class Store {
  readonly system: System;
  readonly location: Location;
  readonly #changes: Change[] | undefined;
  readonly #isLocked: boolean;
  /** Whether the journal is read and, unless something goes wrong, sealed. */
  #keepsJournal: boolean;
  /** The seal, where it was current when this call began; or that of the journal which this call has written anew. */
  #seal: Omit<Seal, "directory"> | undefined;
  /** The directory's identity in that seal, while this call has changed nothing. */
  #identity: Seal["directory"] | undefined;
  #hasReadSeal = false;
  /** The seal as this call has found it, current or not. */
  #foundSeal: Seal | undefined;
  #isOfAnotherForm = false;
  #hasChanged = false;
  /** The lines to append. */
  #lines = "";
  #reservations = 0;
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
    // Beside the Go plugin at work, a seal could hide what it writes meanwhile.
    this.#keepsJournal = isLocked && location.usesStateDirectory && system.locksOutGoPlugin;
  }

  /**
   * The reservations of an attachment, in the order of `listReservations`. To be called before anything is changed.
   *
   * @param doubt what to do where the journal does not tell: `search` where a missed reservation would leak an address
   * @throws SystemError where the directory cannot be read
   */
  heldBy(attachment: Attachment, doubt: "search" | "trust"): readonly HeldReservation[] {
    const listing = this.#files === undefined ? this.#listing(attachment) : undefined;
    if (listing !== undefined && (listing.isComplete || doubt === "trust")) {
      const { reservations } = listing;
      const held = heldAmong(readOwners(this.system, this.location, reservations), attachment);
      if (held.length === reservations.length) return held;
    }
    const held = heldAmong(allOf(attachment, this.#search()), attachment);
    // A DEL is repeated: the next one need not search.
    if (held.length === 0 && doubt === "search") this.#lines += nothingLine(keyOf(attachment));
    return held;
  }

  /** What the journal lists for an attachment; `undefined` where it cannot be believed. */
  #listing(attachment: Attachment): Listing | undefined {
    const journal = this.#readSeal(attachment);
    return journal === undefined ? undefined : listingOf(journal, attachment);
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
    this.#change();
    const name = formatAddress(address);
    const path = join(this.location.directory, name);
    try {
      this.#certainly(() => this.#link(temporary, path, attachment));
    } catch (error) {
      if (isSystemError(error, "EEXIST") && !isSameFile(this.system, temporary, path)) return false;
      // Another file system: `withTemporary` tries again in the network's directory.
      if (!isSystemError(error) || error.code === "EXDEV") throw error;
      if (error.code !== "EEXIST") {
        throw internalError(`open ${path}: ${error.reason}`, error.message);
      }
    }
    this.#reservations++;
    this.#reserved.add(name);
    this.#changes?.push({ kind: "reserved", name, owner: { kind: "attachment", ...attachment } });
    this.#lines += heldLine(keyOf(attachment), name);
    return true;
  }

  /**
   * Removes a reservation. One that is gone, or has another owner meanwhile, is not an error: a process without this
   * lock was faster.
   *
   * @throws SystemError
   */
  release({ name, owner }: Pick<OwnedReservation, "name" | "owner">): void {
    this.#change();
    const { system, location } = this;
    const now = readOwner(system, location, name);
    if (now.kind !== "unknown" && !isSameOwner(now, owner)) return;
    if (this.#certainly(() => removeReservation(system, location, name))) {
      this.#reservations--;
      this.#changes?.push({ kind: "released", name, owner });
    }
    // What this call has reserved itself was nobody's.
    if (!this.#reserved.has(name)) this.#released.push(name);
    const key: Key | undefined = keyOfOwner(owner);
    if (key !== undefined) this.#lines += releasedLine(key, name);
  }

  /**
   * Removes an empty reservation, so that its address is free.
   *
   * @returns whether it was removed
   */
  reclaim(name: string): boolean {
    return this.#moveAway(name, { kind: "nobody" }, (moved) => isBlank(this.system, moved));
  }

  /**
   * Removes a reservation from before this boot, so that its address is free.
   *
   * @returns whether it was removed
   */
  reclaimEarlier(note: Earlier): boolean {
    const owner = ownerOfKey(note.key);
    const isRemoved = this.#moveAway(note.name, owner, (moved) =>
      isNotedFile(this.system, moved, note),
    );
    if (isRemoved) this.#lines += releasedLine(note.key, note.name);
    return isRemoved;
  }

  /**
   * An attachment uses again what it holds. What may be from before this boot is written anew, so that neither a note nor
   * a journal, not even a restored one, is about it any more.
   *
   * @throws SystemError where that is not possible
   */
  useAgain(held: readonly HeldReservation[]): void {
    const { system, location } = this;
    const isOfThisBoot = this.#seal !== undefined;
    const noted = new Set(readBeforeBoot(system, location).map(({ name }) => name));
    const earlier = held.filter(
      ({ name }) => noted.has(name) || (this.#keepsJournal && !isOfThisBoot),
    );
    if (earlier.length > 0) this.#change();
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
  #moveAway(name: string, owner: Owner, mayGo: (path: string) => boolean): boolean {
    this.#change();
    const { system, location } = this;
    const path = join(location.directory, name);
    const removed = withTemporary(system, location, "", (temporary) => {
      try {
        this.#certainly(() => system.rename(path, temporary));
        if (mayGo(temporary)) return true;
        this.#certainly(() => restore(system, temporary, path));
        return false;
      } catch (error) {
        // Another file system: `withTemporary` tries again in the network's directory.
        if (!isSystemError(error) || error.code === "EXDEV") throw error;
        return false;
      }
    });
    if (removed) {
      this.#reservations--;
      this.#changes?.push({ kind: "released", name, owner });
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
    const { system, location } = this;
    const seal = this.#seal;
    const isInStep = this.#identity !== undefined && this.#lines === "";
    if (!this.#keepsJournal || seal === undefined || isInStep) return;
    this.#tryJournal(() => {
      const directory = this.#identity ?? dateBack(system, location.directory);
      if (directory === undefined) return;
      sealJournal(system, location, this.#lines, {
        ...seal,
        directory,
        reservations: seal.reservations + this.#reservations,
        length: seal.length + utf8Length(this.#lines),
      });
    });
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
    this.#readSeal(undefined);
    const { system, location } = this;
    if (this.#isLocked) sweepTemporary(system, location);
    const files = readAll(system, location);
    this.#files = files;
    // A file that cannot be read may belong to any attachment: the journal stays as it is.
    if (this.#unreadable.length > 0) this.#keepsJournal = false;
    if (this.#keepsJournal && this.#identity === undefined) this.#renew(files);
    return files;
  }

  #renew(files: Files): void {
    const { system, location } = this;
    this.#tryJournal(() => {
      const boot = bootId(system);
      if (boot === undefined) return;
      if (this.#isOfAnotherForm) removeBeforeBoot(system, location);
      const found = this.#foundSeal;
      if (found !== undefined && found.boot !== boot && !this.#hasChanged) {
        noteBeforeBoot(system, location, boot, found, allIn(files));
      }
      const { delaySeconds = 0, stickySeconds } = this.#reuse ?? {};
      const isNoted = delaySeconds > 0 || stickySeconds !== undefined;
      if (found?.boot === boot && isNoted) this.#noteMissing(files);
      removeOldIndex(system, location);
      const machine = this.#machine(boot);
      const length = renewJournal(system, location, files, machine);
      const reservations = files.count + othersIn(files).length;
      this.#seal = { boot, machine, reservations, length, renewed: length };
      this.#reservations = 0;
      this.#lines = "";
    });
  }

  /** What the journal lists and is gone, the Go plugin has released. */
  #noteMissing(files: Files): void {
    const journal = readJournal(this.system, this.location, "");
    const names = new Set(allIn(files).map(({ name }) => name));
    for (const name of journal === undefined ? [] : listedIn(journal).keys()) {
      if (!names.has(name)) this.#released.push(name);
    }
  }

  /** The machine for a new seal: none in particular, once the journal was that of another. */
  #machine(boot: Seal["boot"]): Seal["machine"] {
    const found = this.#foundSeal;
    if (found?.machine === undefined) return this.#machineIfReadable();
    if (found.boot === boot || found.machine === SEVERAL) return found.machine;
    return found.machine === machineId(this.system) ? found.machine : SEVERAL;
  }

  #machineIfReadable(): MachineId | undefined {
    try {
      return machineId(this.system);
    } catch (error) {
      if (isSystemError(error, "EACCES", "EPERM")) return undefined;
      throw error;
    }
  }

  /** Reads the journal, and its seal unless that was read before; `undefined` where it is not current. */
  #readSeal(attachment: Attachment | undefined): Lines | undefined {
    if (!this.#keepsJournal || this.#hasReadSeal) return undefined;
    this.#hasReadSeal = true;
    const { system, location } = this;
    const start = attachment && startOf(attachment.containerId);
    let journal: Lines | undefined;
    // Where it could not be read, it stays as it is: it may tell a later call what is from before this boot.
    this.#tryJournal(() => {
      journal = requireJournal(system, location, start);
    });
    if (journal === undefined) return undefined;
    const seal = sealOf(journal);
    this.#foundSeal = seal;
    if (seal === undefined) {
      this.#isOfAnotherForm = isOfAnotherForm(journal);
      return undefined;
    }
    if (!isCurrent(system, location, journal, seal)) return undefined;
    this.#seal = seal;
    this.#identity = seal.directory;
    return journal;
  }

  #change(): void {
    this.#readSeal(undefined);
    this.#identity = undefined;
    this.#hasChanged = true;
  }

  /** Makes a change. One that failed may have taken effect, and then the journal, which does not tell, is not sealed. */
  #certainly<T>(change: () => T): T {
    try {
      return change();
    } catch (error) {
      if (!isSystemError(error, "EEXIST", "ENOENT", "EXDEV")) this.#keepsJournal = false;
      throw error;
    }
  }

  /** The journal never makes a call fail: without it, everything is searched for. */
  #tryJournal(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.#keepsJournal = false;
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
