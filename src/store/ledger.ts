/** What a call does to the reservations of a network: the one place that tells journal, history and reuse of it. */

import type { Reuse } from "../ipam/config.ts";
import type { AddressFiles, Lock } from "../system/system.ts";
import type { Fingerprint } from "./files/fingerprint.ts";
import type { NetworkFiles } from "./files/network-files.ts";
import { type HistoryCall, keepHistory } from "./history/history-file.ts";
import type { Change } from "./history/history-record.ts";
import { Journal } from "./journal/journal.ts";
import { type AddedNamespace, formatRecorded } from "./journal/record.ts";
import { keyOf, type NamedOwner, type Owner } from "./reservations/owner.ts";
import type { ReservationFile } from "./reservations/reservation-file.ts";
import { ReusedAddresses } from "./reuse/reuse.ts";

/** The changes of a call, from its beginning to the release of the lock. */
export class Ledger {
  readonly journal: Journal;
  readonly reuse: ReusedAddresses;
  readonly #files: NetworkFiles;
  readonly #isLocked: boolean;
  /** The changes of this call, in their order. */
  readonly #changes: Change[] = [];
  readonly #made: ReservationFile[] = [];

  /**
   * @param lock what the lock excludes; `undefined` where the disk refuses one
   * @param reuse how addresses are used again; where it is not known, as the last call noted
   */
  constructor(
    files: NetworkFiles,
    lock: Pick<Lock, "excludesGoPlugin"> | undefined,
    reuse: Reuse | undefined,
  ) {
    this.journal = new Journal(files, lock);
    this.reuse = new ReusedAddresses(files, reuse);
    this.#files = files;
    this.#isLocked = lock !== undefined;
  }

  /** What the call has reserved. */
  get made(): readonly ReservationFile[] {
    return this.#made;
  }

  /**
   * All files were read. The journal is written anew, unless it is current; and where it matters, what others have released
   * is noted.
   *
   * @param isComplete whether each could be read: one that could not may belong to any attachment, and the journal stays as it is
   */
  searched(scan: AddressFiles, isComplete: boolean): void {
    if (!isComplete) this.journal.abandon();
    if (this.reuse.isAsked) this.reuse.released(...this.journal.missingIn(scan));
    this.journal.renew(scan);
  }

  /**
   * The call has made a reservation.
   *
   * @param file that no other one is like; `undefined` where that is not known
   */
  reserved(
    name: string,
    owner: NamedOwner,
    file: Fingerprint | undefined,
    namespace: AddedNamespace | undefined,
  ): void {
    const key = keyOf(owner);
    this.#made.push({ name, key, file: file?.id });
    this.#changes.push({ kind: "reserved", name, owner });
    this.journal.reserved(key, name, formatRecorded(file, namespace));
  }

  /** The call has put another file in place of that of a reservation; `file` as of `reserved`. */
  renewed(
    name: string,
    owner: NamedOwner,
    file: Fingerprint | undefined,
    namespace: AddedNamespace | undefined,
  ): void {
    this.journal.renewed(keyOf(owner), name, formatRecorded(file, namespace));
  }

  /**
   * A reservation is gone.
   *
   * @param isRemoved whether this call has removed it
   */
  released(name: string, owner: Owner, isRemoved: boolean): void {
    if (isRemoved) this.#changes.push({ kind: "released", name, owner });
    // Nobody had an address that this call itself has reserved.
    if (!this.#made.some((reservation) => reservation.name === name)) this.reuse.released(name);
    this.journal.released(keyOf(owner), name, isRemoved);
  }

  /** The call has removed a reservation to make one of its own at once: nobody waits for the address. */
  reclaimed(name: string, owner: Owner): void {
    this.#changes.push({ kind: "released", name, owner });
    this.journal.released(keyOf(owner), name, true);
  }

  /**
   * Writes it all, while the lock is still held. It never makes a call fail.
   *
   * @param history how the call is described in the history; `undefined` where there is none
   * @returns a line for standard error where the history cannot be written
   */
  close(history: HistoryCall | undefined): string | undefined {
    const problem = history && keepHistory(this.#files, history, this.#changes, this.#isLocked);
    // Without the lock, calls could overwrite each other's lines.
    if (this.#isLocked) this.reuse.close();
    this.journal.close();
    return problem;
  }
}
