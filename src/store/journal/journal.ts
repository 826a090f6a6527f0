/** The journal of a network during a call that holds the lock: believed as the call finds it, and sealed in the end. */

import type { ContainerId } from "../../cni/attachment.ts";
import { utf8Length } from "../../cni/unicode.ts";
import { eachLine } from "../../system/lines.ts";
import { attempt, type Files, isSystemError, type Lock, recover } from "../../system/system.ts";
import { isMachineId, type MachineId } from "../files/boot-id.ts";
import { dateBack } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import type { StateDirectory } from "../files/state-directory.ts";
import { allIn, othersIn, usualIn } from "../reservations/directory-scan.ts";
import type { OwnerKey } from "../reservations/owner.ts";
import { countReservations } from "../reservations/reservation-file.ts";
import { noteBeforeBoot } from "./before-boot.ts";
import {
  ALL,
  type JournalContent,
  listedIn,
  readJournal,
  recordsIn,
  renewJournal,
  requireJournal,
  SEVERAL,
  type Seal,
  sealedAt,
  sealJournal,
} from "./journal-file.ts";
import { carriedOver } from "./record.ts";
import { type Records, recordsOf } from "./records.ts";

/**
 * The journal of a network while its lock is held. It never makes a call fail: where it cannot be written (a full disk, a
 * lock that the Go plugin does not take), calls read all reservations.
 */
export class Journal {
  readonly #files: NetworkFiles;
  /** Where it is; `undefined` if it is neither read nor, in the end, sealed. */
  #state: StateDirectory | undefined;
  /** The seal, where it was current when this call began; or that of the journal which this call has written anew. */
  #seal: Omit<Seal, "directory"> | undefined;
  /** The directory's fingerprint in that seal, while this call has changed nothing. */
  #fingerprint: Seal["directory"] | undefined;
  #isOpen = false;
  /** The seal as this call has found it, current or not. */
  #foundSeal: Seal | undefined;
  /** Whether that one was current: then nobody else has changed anything since. */
  #wasCurrent = false;
  /** Whether a search was made: it may have seen half of what another makes meanwhile, if the lock file was removed. */
  #hasSearched = false;
  /** The lines to append. */
  #lines = "";
  /** How many reservations there are more than the seal says. */
  #difference = 0;

  /** @param lock what the lock excludes; without it the journal is neither read nor written */
  constructor(files: NetworkFiles, lock: Pick<Lock, "excludesGoPlugin"> | undefined) {
    this.#files = files;
    // Beside the Go plugin at work, a seal could hide what it writes meanwhile.
    this.#state = lock?.excludesGoPlugin ? files.state : undefined;
  }

  /**
   * Reads the lines about a container.
   *
   * @returns `undefined` where they cannot be believed, as after a change of this call, which is noted in the end
   */
  read(about: ContainerId): JournalContent | undefined {
    if (!this.#isOpen) return this.#open(about);
    return this.#fingerprint === undefined ? undefined : this.#content(about);
  }

  /** Reads its seal, unless this call has done so: what it says is of the time before any change. */
  open(): void {
    if (!this.#isOpen) this.#open(undefined);
  }

  #open(about: ContainerId | undefined): JournalContent | undefined {
    this.#isOpen = true;
    const journal = this.#content(about);
    this.#foundSeal = journal?.seal;
    if (journal?.isCurrent !== true) return undefined;
    this.#wasCurrent = true;
    this.#seal = journal.seal;
    this.#fingerprint = journal.seal?.directory;
    return journal;
  }

  #content(about: ContainerId | undefined): JournalContent | undefined {
    if (this.#state === undefined) return undefined;
    let journal: JournalContent | undefined;
    // Where it could not be read, it stays as it is: it may tell a later call what is from before this boot.
    this.#try(() => {
      journal = requireJournal(this.#files, about);
    });
    return journal;
  }

  /** Whether it is in use, and has been found not to be current; or this call has changed something. */
  get isStale(): boolean {
    this.open();
    return this.#state !== undefined && this.#fingerprint === undefined;
  }

  /**
   * Makes a change in the network's directory. One that failed may have taken effect, and then the journal, which does not
   * tell, is not sealed.
   */
  tracked<T>(change: () => T): T {
    this.open();
    this.#fingerprint = undefined;
    try {
      return change();
    } catch (error) {
      if (!isSystemError(error, "EEXIST", "ENOENT", "EXDEV")) this.#state = undefined;
      throw error;
    }
  }

  /**
   * An attachment has got a reservation.
   *
   * @param record as `formatRecord` has it; empty where nothing is known
   */
  reserved(key: OwnerKey, name: string, record: string): void {
    this.#lines += `${key} ${name}${record}\n`;
    this.#difference++;
  }

  /** The file of a reservation is another one; the record as of `reserved`. */
  renewed(key: OwnerKey, name: string, record: string): void {
    this.#lines += `${key} ${name}${record}\n`;
  }

  /** What it tells of reservations of the running boot; `undefined` where it cannot be read. */
  records(): Records | undefined {
    this.open();
    const read = (): Records => {
      const journal = requireJournal(this.#files, ALL);
      // Meanwhile this call may have changed the directory.
      const isCurrent = this.#seal !== undefined;
      return recordsOf(this.#files, journal && { ...journal, isCurrent });
    };
    return attempt(read, undefined);
  }

  /**
   * A reservation is gone.
   *
   * @param key whose it was; `undefined` where it named no container
   * @param isRemoved whether this call has removed it
   */
  released(key: OwnerKey | undefined, name: string, isRemoved: boolean): void {
    if (key !== undefined) this.#lines += `${key} -${name}\n`;
    if (isRemoved) this.#difference--;
  }

  /** A search has found nothing of an attachment: a line is about it, so that the next call need not search. */
  holdsNothing(key: OwnerKey): void {
    this.#lines += `${key} -\n`;
  }

  /** From here on it stays as it is on disk. */
  abandon(): void {
    this.#state = undefined;
  }

  /** What it lists and a search has not found: the Go plugin has released that, if it was in this boot. */
  missingIn(scan: Files): readonly string[] {
    if (!this.isStale || this.#foundSeal?.boot !== this.#files.boot) return [];
    const journal = readJournal(this.#files, ALL);
    const names = new Set(allIn(scan).map(({ name }) => name));
    const listed = journal === undefined ? [] : [...listedIn(journal).keys()];
    return listed.filter((name) => !names.has(name));
  }

  /** Writes it anew from the result of a search, unless it is current. */
  renew(scan: Files): void {
    this.#hasSearched = true;
    const state = this.isStale ? this.#state : undefined;
    const { boot } = this.#files;
    if (state === undefined || boot === undefined) return;
    this.#try(() => {
      const found = this.#foundSeal;
      if (found !== undefined && found.boot !== boot) {
        noteBeforeBoot(this.#files, boot, found, () => usualIn(scan));
      }
      const machine = this.#machine(boot);
      const records = this.#carriedOver(boot);
      const length = renewJournal(state, scan, { boot, machine }, records);
      const reservations = scan.count + othersIn(scan).length;
      this.#seal = { boot, machine, reservations, length, renewed: length };
      this.#difference = 0;
      this.#lines = "";
    });
  }

  /** The lines with records for the journal that is written anew, by names; none from before this boot. */
  #carriedOver(boot: Seal["boot"]): ReadonlyMap<string, string> {
    const seal = this.#foundSeal;
    const journal = seal?.boot === boot ? requireJournal(this.#files, ALL) : undefined;
    const lines = journal?.found ?? [];
    const bound = this.#wasCurrent || seal === undefined ? undefined : sealedAt(seal);
    const found = bound === undefined ? lines : lines.map((line) => carriedOver(line, bound));
    const all = [...found, ...eachLine(this.#lines)];
    return new Map([...recordsIn(all)].map(([name, at]) => [name, all[at] ?? ""]));
  }

  /** Appends the lines, and seals it. From here on it stays as it is on disk. */
  close(): void {
    const state = this.#state;
    this.#state = undefined;
    const seal = this.#seal;
    const isInStep = this.#fingerprint !== undefined && this.#lines === "";
    if (state === undefined || seal === undefined || isInStep) return;
    this.#try(() => {
      const reservations = seal.reservations + this.#difference;
      const directory = this.#fingerprint ?? dateBack(this.#files.system, this.#files.directory);
      if (directory === undefined) return;
      // Whoever writes from here on changes the directory's fingerprint; so does whoever has, if this call changed nothing.
      const mayHaveMissed = this.#hasSearched && this.#fingerprint === undefined;
      if (mayHaveMissed && countReservations(this.#files) !== reservations) return;
      sealJournal(state, this.#lines, {
        ...seal,
        directory,
        reservations,
        length: seal.length + utf8Length(this.#lines),
      });
    });
  }

  /** The machine for a new seal: none in particular, once the journal was that of another. */
  #machine(boot: Seal["boot"]): Seal["machine"] {
    const found = this.#foundSeal;
    if (found?.machine === undefined) return this.#machineIfReadable();
    // Any other word could make the seal longer than its line.
    if (found.boot === boot && isMachineId(found.machine)) return found.machine;
    return found.machine === this.#machineIfReadable() ? found.machine : SEVERAL;
  }

  #machineIfReadable(): MachineId | undefined {
    return attempt(() => this.#files.requireMachine(), undefined, "EACCES", "EPERM");
  }

  #try(step: () => void): void {
    recover(step, () => this.abandon());
  }
}
