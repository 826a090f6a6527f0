/** The journal of a network during a call that holds the lock: read once, and sealed in the end. */

import { utf8Length } from "../../cni/unicode.ts";
import { type Files, isSystemError, type Lines, type System } from "../../system/system.ts";
import { bootId, type MachineId, machineId } from "../files/boot-id.ts";
import { dateBack } from "../files/fingerprint.ts";
import type { Location } from "../files/paths.ts";
import { removeOldIndex } from "../old-index.ts";
import { allIn, othersIn } from "../reservations/directory-scan.ts";
import { noteBeforeBoot, removeBeforeBoot } from "./earlier-boots.ts";
import {
  heldLine,
  isCurrent,
  isOfAnotherForm,
  type Key,
  listedIn,
  nothingLine,
  readJournal,
  releasedLine,
  renewJournal,
  requireJournal,
  SEVERAL,
  type Seal,
  sealJournal,
  sealOf,
} from "./journal-file.ts";

/**
 * The journal of a network while its lock is held. It never makes a call fail: where it cannot be kept (a full disk, a
 * lock that the Go plugin does not take), calls read all reservations.
 */
export class OpenJournal {
  readonly #system: System;
  readonly #location: Location;
  /** Whether it is read and, unless something goes wrong, sealed. */
  #isKept: boolean;
  /** The seal, where it was current when this call began; or that of the journal which this call has written anew. */
  #seal: Omit<Seal, "directory"> | undefined;
  /** The directory's identity in that seal, while this call has changed nothing. */
  #identity: Seal["directory"] | undefined;
  #isRead = false;
  /** The seal as this call has found it, current or not. */
  #foundSeal: Seal | undefined;
  #isOfAnotherForm = false;
  #hasChanged = false;
  /** The lines to append. */
  #lines = "";
  /** How many reservations there are more than the seal says. */
  #difference = 0;

  /** @param isLocked whether the lock is held; without it the journal is neither read nor written */
  constructor(system: System, location: Location, isLocked: boolean) {
    this.#system = system;
    this.#location = location;
    // Beside the Go plugin at work, a seal could hide what it writes meanwhile.
    this.#isKept = isLocked && location.usesStateDirectory && system.locksOutGoPlugin;
  }

  /** Whether the journal is kept and cannot tell that all reservations are of this boot. */
  get mayBeOfEarlierBoot(): boolean {
    return this.#isKept && this.#seal === undefined;
  }

  /**
   * Reads it, unless this call has done so.
   *
   * @param start what the lines begin with; `undefined` for the seal alone
   * @returns `undefined` where it cannot be believed, and when it was read before
   */
  read(start: string | undefined): Lines | undefined {
    if (!this.#isKept || this.#isRead) return undefined;
    this.#isRead = true;
    let journal: Lines | undefined;
    // Where it could not be read, it stays as it is: it may tell a later call what is from before this boot.
    this.#try(() => {
      journal = requireJournal(this.#system, this.#location, start);
    });
    if (journal === undefined) return undefined;
    const seal = sealOf(journal);
    this.#foundSeal = seal;
    if (seal === undefined) {
      this.#isOfAnotherForm = isOfAnotherForm(journal);
      return undefined;
    }
    if (!isCurrent(this.#system, this.#location, journal, seal)) return undefined;
    this.#seal = seal;
    this.#identity = seal.directory;
    return journal;
  }

  /** Something in the network's directory is about to change. */
  change(): void {
    this.read(undefined);
    this.#identity = undefined;
    this.#hasChanged = true;
  }

  /** Makes a change. One that failed may have taken effect, and then the journal, which does not tell, is not sealed. */
  certainly<T>(change: () => T): T {
    try {
      return change();
    } catch (error) {
      if (!isSystemError(error, "EEXIST", "ENOENT", "EXDEV")) this.#isKept = false;
      throw error;
    }
  }

  /** An attachment has got a reservation. */
  reserved(key: Key, name: string): void {
    this.#lines += heldLine(key, name);
    this.#difference++;
  }

  /**
   * A reservation is gone.
   *
   * @param key whose it was; `undefined` where it named no container
   * @param isRemoved whether this call has removed it
   */
  released(key: Key | undefined, name: string, isRemoved: boolean): void {
    if (key !== undefined) this.#lines += releasedLine(key, name);
    if (isRemoved) this.#difference--;
  }

  /** A search has found nothing of an attachment. */
  holdsNothing(key: Key): void {
    this.#lines += nothingLine(key);
  }

  /** From here on it stays as it is on disk. */
  abandon(): void {
    this.#isKept = false;
  }

  /** What it lists and a search has not found: the Go plugin has released that, if it was in this boot. */
  missingIn(files: Files): readonly string[] {
    const boot = this.#foundSeal?.boot;
    if (!this.#isStale || boot === undefined || boot !== bootId(this.#system)) return [];
    const journal = readJournal(this.#system, this.#location, "");
    const names = new Set(allIn(files).map(({ name }) => name));
    const listed = journal === undefined ? [] : [...listedIn(journal).keys()];
    return listed.filter((name) => !names.has(name));
  }

  /** Writes it anew from the result of a search, unless it is current. */
  renew(files: Files): void {
    if (!this.#isStale) return;
    const system = this.#system;
    const location = this.#location;
    this.#try(() => {
      const boot = bootId(system);
      if (boot === undefined) return;
      if (this.#isOfAnotherForm) removeBeforeBoot(system, location);
      const found = this.#foundSeal;
      if (found !== undefined && found.boot !== boot && !this.#hasChanged) {
        noteBeforeBoot(system, location, boot, found, allIn(files));
      }
      removeOldIndex(system, location);
      const machine = this.#machine(boot);
      const length = renewJournal(system, location, files, machine);
      const reservations = files.count + othersIn(files).length;
      this.#seal = { boot, machine, reservations, length, renewed: length };
      this.#difference = 0;
      this.#lines = "";
    });
  }

  /** Appends the lines, and seals it; to be called once, before the lock is released. */
  close(): void {
    const seal = this.#seal;
    const isInStep = this.#identity !== undefined && this.#lines === "";
    if (!this.#isKept || seal === undefined || isInStep) return;
    this.#try(() => {
      const directory = this.#identity ?? dateBack(this.#system, this.#location.directory);
      if (directory === undefined) return;
      sealJournal(this.#system, this.#location, this.#lines, {
        ...seal,
        directory,
        reservations: seal.reservations + this.#difference,
        length: seal.length + utf8Length(this.#lines),
      });
    });
  }

  get #isStale(): boolean {
    return this.#isKept && this.#identity === undefined;
  }

  /** The machine for a new seal: none in particular, once the journal was that of another. */
  #machine(boot: Seal["boot"]): Seal["machine"] {
    const found = this.#foundSeal;
    if (found?.machine === undefined) return this.#machineIfReadable();
    if (found.boot === boot || found.machine === SEVERAL) return found.machine;
    return found.machine === machineId(this.#system) ? found.machine : SEVERAL;
  }

  #machineIfReadable(): MachineId | undefined {
    try {
      return machineId(this.#system);
    } catch (error) {
      if (isSystemError(error, "EACCES", "EPERM")) return undefined;
      throw error;
    }
  }

  #try(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.#isKept = false;
    }
  }
}
