/** The reservations of a network under its lock; all changes go through it. */

import type { Attachment } from "../cni/attachment.ts";
import { CniError, ErrorCode, internalError } from "../cni/error.ts";
import { type Address, formatAddress } from "../ipam/address.ts";
import type { Reuse } from "../ipam/config.ts";
import { type AddressFiles, attempt, type Lock, recover, type System } from "../system/system.ts";
import { dateApart, fileIdAt, fingerprintApart } from "./files/fingerprint.ts";
import type { NetworkFiles } from "./files/network-files.ts";
import type { HistoryCall } from "./history/history-file.ts";
import { ALL, listedIn, listingOf, readJournal, requireJournal } from "./journal/journal-file.ts";
import type { AddedNamespace } from "./journal/record.ts";
import { ReservationStates } from "./journal/reservation-states.ts";
import { Ledger } from "./ledger.ts";
import type { AddressUse } from "./namespaces/address-use.ts";
import { NamespaceStates } from "./namespaces/namespace-state.ts";
import { allIn, heldIn, othersIn, readAll } from "./reservations/directory-scan.ts";
import {
  contentOf,
  describeOwner,
  isSameOwner,
  keyOf,
  type NamedOwner,
  type Owner,
  type OwnerKey,
  ownerOf,
  parseOwner,
} from "./reservations/owner.ts";
import {
  isBlankFile,
  LARGEST_RESERVATION,
  linkReservation,
  type NamedReservation,
  type Reservation,
  type ReservationFile,
  readHeld,
  readOwner,
  removeReservation,
} from "./reservations/reservation-file.ts";
import type { ReusedAddresses } from "./reuse/reuse.ts";

/** Errors for a resource that this process has run out of; they say nothing about the file. */
const RESOURCE_ERRORS = ["EMFILE", "ENFILE", "ENOMEM"];

/** What a lock that is held excludes. */
type Held = Pick<Lock, "excludesGoPlugin">;

/**
 * A network during a call that removes reservations, with its lock unless the disk refuses one. What it changes, it tells
 * its ledger.
 */
export class PossiblyLockedNetwork {
  readonly files: NetworkFiles;
  protected readonly ledger: Ledger;
  /** What a search has found, if there was one, and the reservations of no usual form in it. */
  #scan: AddressFiles | undefined;
  #others: readonly Reservation[] = [];
  /** Whether the journal has what is from before this boot, as far as possible. */
  #isPrepared = false;
  readonly #warnings: string[] = [];
  #states: ReservationStates | undefined;

  /**
   * @param lock `undefined` where the disk refuses it; then the journal is neither read nor written
   * @param reuse how addresses are used again; where it is not known, as the last call noted
   */
  constructor(files: NetworkFiles, lock: Held | undefined, reuse?: Reuse) {
    this.files = files;
    this.ledger = new Ledger(files, lock, reuse);
  }

  /** How its addresses are used again. */
  get reuse(): ReusedAddresses {
    return this.ledger.reuse;
  }

  /**
   * The reservations of an attachment, in the order of `allIn`.
   *
   * @param doubt what to do where the journal does not tell: `search` where a missed reservation would leak an address
   * @throws SystemError where the directory cannot be read
   */
  heldBy(attachment: Attachment, doubt: "search" | "trust"): readonly Reservation<NamedOwner>[] {
    const listing = this.ledger.journal.listing(attachment);
    if (listing !== undefined && (listing.isComplete || doubt === "trust")) {
      const { reservations } = listing;
      const held = readHeld(this.files, reservations, attachment);
      if (held.length === reservations.length) return held;
    }
    const held = heldIn(this.#search(), attachment);
    // A repeated DEL then need not search.
    if (held.length === 0 && doubt === "search")
      this.ledger.journal.holdsNothing(keyOf(attachment));
    return held;
  }

  /** Every reservation with its owner. */
  allOwned(): readonly Reservation[] {
    return allIn(this.#search());
  }

  /** The reservations that name no container or only a container, or cannot be read. */
  unusual(): readonly Reservation[] {
    this.#search();
    return this.#others;
  }

  /** Why files could not be read; each may be a reservation of any attachment. */
  get unreadable(): readonly string[] {
    return this.#unreadable.map(({ owner }) => owner.reason);
  }

  get #unreadable() {
    return this.#others.flatMap(({ name, owner }) =>
      owner.kind === "unknown" ? [{ name, owner }] : [],
    );
  }

  /**
   * The files of `unreadable` that may be reservations of an owner who is meant: the journal lists them for the owner's key,
   * current or not, or cannot be read either, or the file could not be read for lack of a resource.
   */
  unreadableOf(isMeant: (key: OwnerKey) => boolean): readonly string[] {
    const unreadable = this.#unreadable;
    if (unreadable.length === 0) return [];
    const journal = attempt(() => requireJournal(this.files, ALL), "unread");
    const listed = journal && journal !== "unread" ? listedIn(journal.found) : undefined;
    return unreadable
      .filter(({ name, owner }) => {
        const key = listed?.get(name);
        return (
          // A journal that cannot be read might list it.
          journal === "unread" ||
          RESOURCE_ERRORS.includes(owner.code) ||
          (key !== undefined && isMeant(key))
        );
      })
      .map(({ owner }) => owner.reason);
  }

  /**
   * Removes a reservation. One that is gone, or has another owner meanwhile, is not an error: a process without this
   * lock was faster.
   *
   * @throws SystemError
   */
  release({ name, owner }: NamedReservation): void {
    const now = readOwner(this.files, name, owner);
    if (now.kind !== "unknown" && !isSameOwner(now, owner)) return;
    const isRemoved = this.change(() => removeReservation(this.files, name));
    this.ledger.released(name, owner, isRemoved);
  }

  /** What became of the reservations that the journal tells of: looked at once, when it is first asked for. */
  states(): ReservationStates {
    this.#states ??= new ReservationStates(
      this.files,
      this.ledger.journal.records(),
      new NamespaceStates(this.files.system),
    );
    return this.#states;
  }

  /** Keeps a line for standard error until the lock is released: its reader must not be able to block other calls. */
  warn(text: string): void {
    this.#warnings.push(text);
  }

  /**
   * Ends the call: notes what was changed, while the lock is still held. It never makes a call fail.
   *
   * @param history how the call is described in the history; `undefined` where there is none
   * @returns the lines to write to standard error once the lock is released
   */
  close(history?: HistoryCall): string {
    const problem = this.ledger.close(history);
    if (problem !== undefined) this.warn(problem);
    return this.#warnings.join("");
  }

  /** Reads everything, once a call; and writes the journal anew, unless it is current. */
  #search(): AddressFiles {
    if (this.#scan !== undefined) return this.#scan;
    this.ledger.journal.open();
    this.files.sweepTemporary();
    const scan = readAll(this.files);
    this.#scan = scan;
    this.#others = othersIn(scan);
    this.ledger.searched(scan, this.#unreadable.length === 0);
    return scan;
  }

  /**
   * Makes a change in the network's directory. Before the first one of a call, a stale journal is written anew, with what is
   * from before this boot: where it is current, no file is read for that.
   */
  protected change<T>(change: () => T): T {
    if (!this.#isPrepared) {
      this.#isPrepared = true;
      // A directory that cannot be listed now leaves the journal from before this boot to a later call.
      if (this.ledger.journal.isStale()) attempt(() => this.#search(), undefined);
    }
    return this.ledger.journal.tracked(change);
  }
}

/** A network while its lock is held: only then may addresses be reserved, or taken from others. */
export class LockedNetwork extends PossiblyLockedNetwork {
  // The lock is required here.
  constructor(files: NetworkFiles, lock: Held, reuse?: Reuse) {
    super(files, lock, reuse);
  }

  /**
   * Reserves the first free address of some for an attachment.
   *
   * @param candidates gives them, one after the other; again where a temporary file has to be on another file system
   * @param namespace for which the attachment is; `undefined` where that is not known
   * @returns which; `undefined` where none was free
   * @throws CniError 999 in the Go plugin's words: `open <path>: <reason>`
   */
  reserve<C extends { readonly address: Address }>(
    attachment: Attachment,
    candidates: () => Iterable<C>,
    namespace?: AddedNamespace,
  ): C | undefined {
    const { files } = this;
    let dated: bigint | undefined;
    const reserved = files.withTemporary(contentOf(attachment), (temporary) => {
      dated = dateApart(files.system, temporary);
      for (const candidate of candidates()) {
        if (this.#link(temporary, formatAddress(candidate.address))) return candidate;
      }
      return undefined;
    });
    if (reserved === undefined) return undefined;
    const name = formatAddress(reserved.address);
    // The file is looked at only now, since losing its temporary name has changed it.
    const file = fingerprintApart(files.system, files.pathOf(name), dated);
    this.ledger.reserved(name, ownerOf(attachment), file, namespace);
    return reserved;
  }

  /**
   * Links a temporary file to the name of an address: the reservation appears whole or not at all, and only where the
   * address is free. Where the file system has no hard links, it is created exclusively, as by the Go plugin.
   *
   * @returns whether the address was free
   * @throws CniError 999 in the Go plugin's words
   */
  #link(temporary: string, name: string): boolean {
    const { system } = this.files;
    const path = this.files.pathOf(name);
    const put = (): true => {
      linkReservation(system, temporary, path);
      return true;
    };
    return recover(
      () => this.change(put),
      (error) => {
        if (error.code === "EEXIST") return isSameFile(system, temporary, path);
        // Another file system: `withTemporary` tries again in the network's directory.
        if (error.code === "EXDEV") throw error;
        throw internalError(`open ${path}: ${error.reason}`, error.message);
      },
    );
  }

  /** What this call has reserved, for a later `undo`. */
  get made(): readonly ReservationFile[] {
    return this.ledger.made;
  }

  /**
   * Releases what a call has reserved, as far as possible: only the very files that it made. Between two locks the same
   * attachment may have been told the address by a repeated ADD, or have got it again after a DEL; under one nobody has.
   */
  undo(attachment: Attachment, made: readonly ReservationFile[]): void {
    const { files } = this;
    const owner = ownerOf(attachment);
    for (const reservation of made) {
      // The error that caused the undo is reported; the DEL that follows tries again.
      attempt(() => {
        const isOwn =
          this.made.includes(reservation) ||
          (reservation.file !== undefined &&
            isFile(files.system, files.pathOf(reservation.name), reservation.file));
        if (isOwn) this.release({ name: reservation.name, owner });
      }, undefined);
    }
  }

  /**
   * Removes an empty reservation, so that its address is free.
   *
   * @returns whether it was removed
   */
  removeEmpty(name: string): boolean {
    const { system } = this.files;
    return this.#moveAway(name, (moved) =>
      attempt(() => isBlankFile(system, moved), false) ? { kind: "unowned" } : undefined,
    );
  }

  /**
   * The reservations that an ADD of an attachment may reclaim, see `ReservationStates.reclaimable`.
   *
   * @param namespace of that attachment; `undefined` where it is not known
   * @param use tells which addresses are in use
   */
  reclaimable<T>(
    attachment: Attachment,
    namespace: AddedNamespace | undefined,
    use: AddressUse,
    wantedBy: (name: string) => T | undefined,
  ): Generator<{ readonly dead: ReservationFile; readonly wanted: T }, void> {
    const caller = { key: keyOf(attachment), containerId: attachment.containerId, namespace };
    return this.states().reclaimable(wantedBy, use, caller);
  }

  /**
   * Removes a reservation that `reclaimable` has found, so that its address is free.
   *
   * @returns whether it was removed
   */
  reclaimDead(dead: ReservationFile): boolean {
    const { system } = this.files;
    return this.#moveAway(dead.name, (moved) => {
      if (!isFile(system, moved, dead.file)) return undefined;
      const read = (): Owner => parseOwner(system.readFile(moved, LARGEST_RESERVATION));
      const owner = attempt(read, undefined);
      return owner !== undefined && keyOf(owner) === dead.key ? owner : undefined;
    });
  }

  /**
   * An attachment uses again what it holds: each reservation becomes a new file, so that no
   * journal, not even a restored one, nor the UNDO of the ADD that made the former file is about it any more.
   *
   * @param namespace for which the attachment is now; `undefined` where that is not known
   * @throws CniError 11 where a process without this lock has changed one meanwhile
   * @throws SystemError where that is not possible
   */
  useAgain(held: readonly Reservation<NamedOwner>[], namespace?: AddedNamespace): void {
    const { files } = this;
    for (const { name, owner } of held) {
      files.withTemporary(contentOf(owner), (temporary) => {
        const path = files.pathOf(name);
        const now = readOwner(files, name, owner);
        if (!isSameOwner(now, owner)) {
          const found = `it is ${describeOwner(now)}`;
          throw new CniError(ErrorCode.tryAgainLater, `${path} has changed meanwhile`, found);
        }
        const dated = dateApart(files.system, temporary);
        this.change(() => files.system.rename(temporary, path));
        const file = fingerprintApart(files.system, path, dated);
        this.ledger.renewed(name, owner, file, namespace);
      });
    }
  }

  /**
   * Removes a reservation: it is renamed first and checked again. A process without this lock may have changed it
   * meanwhile, and then it is restored.
   *
   * @param ownerAt whose it is, under its temporary name; `undefined` where it may not go
   */
  #moveAway(name: string, ownerAt: (path: string) => Owner | undefined): boolean {
    const { system } = this.files;
    const path = this.files.pathOf(name);
    const move = (temporary: string): Owner | undefined => {
      this.change(() => system.rename(path, temporary));
      const found = ownerAt(temporary);
      if (found === undefined) this.change(() => restore(system, temporary, path));
      return found;
    };
    const owner = attempt(() => this.files.withTemporary("", move), undefined);
    if (owner === undefined) return false;
    this.ledger.reclaimed(name, owner);
    return true;
  }
}

/** Whether a file, under whatever name, is the one with this id. */
function isFile(system: System, path: string, id: ReservationFile["file"]): boolean {
  return attempt(() => fileIdAt(system, path) === id, false);
}

/** Whether two names are of the same file. A network file system may answer EEXIST to a link(2) that it has made. */
function isSameFile(system: System, path: string, other: string): boolean {
  return attempt(() => {
    const [a, b] = [system.linkStatus(path), system.linkStatus(other)];
    return a.inode === b.inode && a.device === b.device;
  }, false);
}

/** Restores the name of a file, unless it was taken meanwhile. */
function restore(system: System, temporary: string, path: string): void {
  recover(
    () => system.link(temporary, path),
    ({ code }) => {
      if (code !== "EEXIST") system.rename(temporary, path);
    },
  );
}

/** Whether an attachment holds anything; needs no lock. Where the journal lists nothing, all reservations are read. */
export function isHeld(files: NetworkFiles, attachment: Attachment): boolean {
  const journal = readJournal(files, attachment.containerId);
  const listed = journal && listingOf(journal, attachment)?.reservations;
  if (listed !== undefined && readHeld(files, listed, attachment).length > 0) return true;
  return heldIn(readAll(files), attachment).length > 0;
}
