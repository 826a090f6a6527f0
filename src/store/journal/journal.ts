/** The journal of a network during a call that holds the lock: believed as the call finds it, and sealed in the end. */

import type { Attachment, ContainerId } from "../../cni/attachment.ts";
import { utf8Length } from "../../cni/unicode.ts";
import { eachLine } from "../../system/lines.ts";
import {
  type AddressFiles,
  attempt,
  isSystemError,
  type Lock,
  recover,
} from "../../system/system.ts";
import { isMachineId, type MachineId } from "../files/boot-id.ts";
import { dateBack, fingerprintOf } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { allIn, othersIn, requireAll } from "../reservations/directory-scan.ts";
import type { OwnerKey } from "../reservations/owner.ts";
import { countReservations } from "../reservations/reservation-file.ts";
import { linesBeforeBoot, recordsOf } from "./earlier-boots.ts";
import {
  ALL,
  heldLine,
  type JournalContent,
  type Listing,
  listedIn,
  listingOf,
  readJournal,
  releasedLine,
  renewJournal,
  requireJournal,
  SEVERAL,
  type Seal,
  sealJournal,
} from "./journal-file.ts";
import { Records } from "./records.ts";

/** What a call knows of the journal. */
type State =
  /** The journal has not been looked at yet. */
  | { readonly kind: "unread" }
  /** The journal is neither read nor written. */
  | { readonly kind: "off" }
  /** The journal's seal is current, and this call has changed nothing. */
  | { readonly kind: "current"; readonly seal: Seal }
  /** The journal, with the lines of this call, has all that there is, and is to be sealed: this call has changed something. */
  | { readonly kind: "changed"; readonly seal: Seal }
  /** Somebody else has changed something since the seal that was found, or there was none. */
  | { readonly kind: "stale"; readonly found: Seal | undefined };

const OFF: State = { kind: "off" };

/** Errors of a change that was not begun: the name was taken or missing, or may not be changed. */
const UNCHANGED = ["EEXIST", "ENOENT", "EACCES", "EPERM", "EROFS"];

/**
 * The journal of a network while its lock is held. It never makes a call fail: where it cannot be written (a full disk, a
 * lock that the Go plugin does not take), calls read all reservations.
 */
export class Journal {
  readonly #files: NetworkFiles;
  #state: State;
  /** The lines to append. */
  #lines = "";
  /** How many reservations this call has found when it read all files, and changed since; `undefined` where it has not. */
  #count: number | undefined;

  /** @param lock what the lock excludes; without it the journal is neither read nor written */
  constructor(files: NetworkFiles, lock: Pick<Lock, "excludesGoPlugin"> | undefined) {
    this.#files = files;
    // A seal could hide what the Go plugin writes meanwhile, unless the lock excludes it.
    this.#state = lock?.excludesGoPlugin && files.state ? { kind: "unread" } : OFF;
  }

  /**
   * What the journal lists for an attachment.
   *
   * @returns `undefined` where it cannot be believed, as after a change of this call, which is noted in the end
   */
  listing(attachment: Attachment): Listing | undefined {
    const journal = this.#read(attachment.containerId);
    const listing = journal && listingOf(journal, attachment);
    // No call writes such lines: the journal is as good as missing.
    if (journal !== undefined && listing === undefined)
      this.#state = { kind: "stale", found: undefined };
    return listing;
  }

  #read(about: ContainerId): JournalContent | undefined {
    if (this.#state.kind === "unread") return this.#open(about);
    return this.#state.kind === "current" ? this.#content(about) : undefined;
  }

  /** Reads the journal's seal, unless this call has done so: it tells of the time before any change. */
  open(): void {
    if (this.#state.kind === "unread") this.#open(undefined);
  }

  #open(about: ContainerId | undefined): JournalContent | undefined {
    const journal = this.#content(about);
    if (this.#state.kind === "off") return undefined;
    this.#state = journal?.isCurrent
      ? { kind: "current", seal: journal.seal }
      : { kind: "stale", found: journal?.seal };
    return journal?.isCurrent ? journal : undefined;
  }

  #content(about: ContainerId | undefined): JournalContent | undefined {
    let journal: JournalContent | undefined;
    // A journal that could not be read stays as it is: it may tell a later call what is from before this boot.
    this.#try(() => {
      journal = requireJournal(this.#files, about);
    });
    return journal;
  }

  /** Whether the journal is in use, and was found not to be current; looks at it if this call has not done so. */
  isStale(): boolean {
    this.open();
    return this.#state.kind === "stale";
  }

  /**
   * Makes a change in the network's directory. One that failed may have taken effect, and then the journal, which does not
   * tell, is not sealed.
   */
  tracked<T>(change: () => T): T {
    this.open();
    try {
      const made = change();
      this.#changed();
      return made;
    } catch (error) {
      // The temporary file is made in the directory next, since the state directory is on another file system.
      if (isSystemError(error, "EXDEV")) this.#changed();
      else if (!isSystemError(error, ...UNCHANGED)) this.#state = OFF;
      throw error;
    }
  }

  #changed(): void {
    const state = this.#state;
    if (state.kind === "current") this.#state = { kind: "changed", seal: state.seal };
  }

  /**
   * An attachment has got a reservation.
   *
   * @param record as `formatRecorded` has it; empty where nothing is known
   */
  reserved(key: OwnerKey, name: string, record: string): void {
    // The file system may have made the link and still say that the name was taken.
    this.#changed();
    this.#lines += `${heldLine(key, name, record)}\n`;
    if (this.#count !== undefined) this.#count++;
  }

  /** The file of a reservation is another one; the record as of `reserved`. */
  renewed(key: OwnerKey, name: string, record: string): void {
    this.#lines += `${heldLine(key, name, record)}\n`;
  }

  /** What the journal tells of reservations, of the running boot and from before it; `undefined` where it cannot be read. */
  records(): Records | undefined {
    this.open();
    const read = (): Records => recordsOf(this.#files, requireJournal(this.#files, ALL));
    return attempt(read, undefined);
  }

  /**
   * A reservation is gone.
   *
   * @param key whose it was; `undefined` where it named no container
   * @param isRemoved whether this call has removed it
   */
  released(key: OwnerKey | undefined, name: string, isRemoved: boolean): void {
    if (key !== undefined) this.#lines += `${releasedLine(key, name)}\n`;
    if (isRemoved && this.#count !== undefined) this.#count--;
  }

  /** A search has found nothing of an attachment: a line is about it, so that the next call need not search. */
  holdsNothing(key: OwnerKey): void {
    this.#lines += `${releasedLine(key, "")}\n`;
  }

  /** Leaves the journal as it is on disk from here on. */
  abandon(): void {
    this.#state = OFF;
  }

  /** The names that the journal of this boot lists and a search has not found: the Go plugin has released them. */
  missingIn(scan: AddressFiles): readonly string[] {
    this.open();
    const state = this.#state;
    if (state.kind !== "stale" || state.found?.boot !== this.#files.boot()) return [];
    const journal = readJournal(this.#files, ALL);
    const names = new Set(allIn(scan).map(({ name }) => name));
    const listed = journal === undefined ? [] : [...listedIn(journal.found).keys()];
    return listed.filter((name) => !names.has(name));
  }

  /** Writes it anew from the result of a search, if it is stale. */
  renew(scan: AddressFiles): void {
    this.open();
    this.#count = scan.count + othersIn(scan).length;
    const state = this.#state;
    const { state: directory } = this.#files;
    const boot = this.#files.boot();
    if (state.kind !== "stale" || boot === undefined || directory === undefined) return;
    const { found } = state;
    this.#try(() => {
      const machine = this.#machineFor(boot, found);
      // The journal stays for a call that knows whether it is of this machine, such as any outside of a container.
      if (machine === undefined && found?.machine !== undefined) return this.abandon();
      const fingerprint = fingerprintOf(this.#files.system.status(this.#files.directory));
      const records = this.#carriedOver(boot, found);
      const seal = { boot, machine, directory: fingerprint };
      const length = renewJournal(directory, scan, seal, records, found);
      this.#state = { kind: "changed", seal: { ...seal, length, renewed: length } };
      this.#lines = "";
    });
  }

  /** The lines with records for the journal that is written anew, by names. */
  #carriedOver(boot: Seal["boot"], found: Seal | undefined): ReadonlyMap<string, string> {
    const journal = found && requireJournal(this.#files, ALL);
    const all: string[] = [];
    if (journal !== undefined && found?.boot === boot) {
      for (const line of journal.found) all.push(line);
    } else if (journal !== undefined) {
      const read = () => requireAll(this.#files);
      // The lines are pushed one by one: there may be more than a call has room for arguments.
      for (const line of linesBeforeBoot(this.#files, journal, read)) all.push(line);
    }
    all.push(...eachLine(this.#lines));
    return new Records(all).lines();
  }

  /** Appends the lines, and seals it. From here on it stays as it is on disk. */
  close(): void {
    const state = this.#state;
    this.#state = OFF;
    const isInStep = state.kind === "current" && this.#lines === "";
    if (isInStep || !("seal" in state)) return;
    this.#try(() => this.#seal(state));
  }

  /** @throws SystemError */
  #seal(state: Extract<State, { readonly seal: Seal }>): void {
    const { system, directory: path, state: directory } = this.#files;
    const { seal } = state;
    // The next call sees any other change of the directory's fingerprint, made meanwhile or from here on.
    const fingerprint =
      state.kind === "current" ? seal.directory : dateBack(system, path, seal.directory);
    if (directory === undefined || fingerprint === undefined) return;
    if (state.kind !== "current" && hasMissed(this.#files, this.#count)) return;
    sealJournal(directory, this.#lines, {
      ...seal,
      machine: seal.machine ?? this.#machineIfReadable(),
      directory: fingerprint,
      length: seal.length + utf8Length(this.#lines),
    });
  }

  /**
   * The machine for a new seal: none in particular, once the journal was that of another; `undefined` where this call does not
   * know its own.
   */
  #machineFor(boot: Seal["boot"], found: Seal | undefined): Seal["machine"] {
    if (found?.machine === undefined) return this.#machineIfReadable();
    // Any other word could make the seal longer than its line.
    if (found.boot === boot && isMachineId(found.machine)) return found.machine;
    if (!isMachineId(found.machine)) return SEVERAL;
    const own = this.#machineIfReadable();
    return own === undefined || own === found.machine ? own : SEVERAL;
  }

  #machineIfReadable(): MachineId | undefined {
    return attempt(() => this.#files.requireMachine(), undefined, "EACCES", "EPERM");
  }

  #try(step: () => void): void {
    recover(step, () => this.abandon());
  }
}

/**
 * Whether a search has seen only a part of what another call made meanwhile, if the lock file was removed.
 *
 * @param count of what it found; `undefined` without a search
 */
function hasMissed(files: NetworkFiles, count: number | undefined): boolean {
  return count !== undefined && countReservations(files) !== count;
}
