/**
 * Reservations from before this boot: no network namespace survives a boot, so they belong to nobody alive. They are
 * noted by the first call of a boot that keeps the journal, and are reclaimed when their range is otherwise full.
 *
 * Only what is certain is noted: the journal's seal is of another boot of this machine, and the reservation was there
 * when it was put. A note is valid while the file is the one that was noted.
 */

import { attempt, type System } from "../../system/system.ts";
import { type BootId, isBootId } from "../files/boot-id.ts";
import { fileIdAt, fingerprintOf } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { allIn, readAll } from "../reservations/directory-scan.ts";
import { keyOfOwner, type OwnerKey } from "../reservations/owner.ts";
import { type OwnedReservation, readOwner } from "../reservations/reservation-file.ts";
import { listedIn, readJournal, type Seal } from "./journal-file.ts";

/** A reservation that was noted. */
export interface Earlier {
  /** The last boot in which it was held. */
  readonly boot: BootId;
  /** The name of its file. */
  readonly name: string;
  readonly key: OwnerKey;
  /** Inode and time of last modification of its file. */
  readonly file: string;
}

/** What the first line begins with; the machine follows. */
const FORM = "host-local-before-boot 1";

/** The name of the file, in the state directory. */
const FILE = "before-boot";

/** A reservation that was read, with the identity of its file. */
export interface ReadReservation extends OwnedReservation {
  /** As in a note; `undefined` where it is not a regular file. */
  readonly file: string | undefined;
}

/**
 * The file names of the reservations from before this boot, also of those that the next call under the lock will note;
 * needs no lock.
 */
export function namesBeforeBoot(files: NetworkFiles): ReadonlySet<string> {
  const all = (): readonly OwnedReservation[] => allIn(readAll(files));
  const unnoted = unnotedAmong(files, all, fileReader(files));
  return new Set([...validNotes(files), ...unnoted].map(({ name }) => name));
}

/**
 * As `namesBeforeBoot`, among reservations that were read; none is read again.
 *
 * @param reservations gives them, if any can be from before this boot
 */
export function namesBeforeBootAmong(
  files: NetworkFiles,
  reservations: () => readonly ReadReservation[],
): ReadonlySet<string> {
  const noted = new Map(attempt(() => readNotes(files), []).map((note) => [note.name, note]));
  const isNoted = ({ name, file, owner }: ReadReservation): boolean => {
    const note = noted.get(name);
    return note !== undefined && note.file === file && note.key === keyOfOwner(owner);
  };
  const found = noted.size === 0 ? [] : reservations().filter(isNoted);
  const unnoted = unnotedAmong(files, reservations, ({ file }) => file);
  return new Set([...found, ...unnoted].map(({ name }) => name));
}

/** Those that the next call under the lock will note. */
function unnotedAmong<T extends OwnedReservation>(
  files: NetworkFiles,
  reservations: () => readonly T[],
  fileOf: (reservation: T) => string | undefined,
): readonly Earlier[] {
  const seal = readJournal(files, undefined)?.seal;
  const { boot } = files;
  if (boot === undefined || seal === undefined) return [];
  return attempt(() => notesOf(files, boot, seal, reservations, fileOf), []);
}

/** Reads which file a reservation is. */
function fileReader(files: NetworkFiles): (reservation: OwnedReservation) => string | undefined {
  return ({ name }) => fileIdAt(files.system, files.pathOf(name));
}

/** The reservations that are noted and still there, those of the oldest boot first; needs no lock. */
export function validNotes(files: NetworkFiles): readonly Earlier[] {
  return attempt(() => readNotes(files).filter((note) => isStillThere(files, note)), []);
}

/** Whether the reservation that was noted is still there. */
export function isStillThere(files: NetworkFiles, note: Earlier): boolean {
  const { name, key } = note;
  return (
    isNotedFile(files.system, files.pathOf(name), note) &&
    keyOfOwner(readOwner(files, name)) === key
  );
}

/** Whether a file, under whatever name, is the one that was noted. */
export function isNotedFile(system: System, path: string, { file }: Earlier): boolean {
  return attempt(() => fileIdAt(system, path) === file, false);
}

/**
 * Notes the reservations of an earlier boot, beside those that are noted already. To be called under the lock, before
 * anything is changed.
 *
 * @param boot the running boot
 * @param seal that of the journal, as this call has found it
 * @param reservations all that there are
 * @throws SystemError
 */
export function noteBeforeBoot(
  files: NetworkFiles,
  boot: BootId,
  seal: Seal,
  reservations: readonly OwnedReservation[],
): void {
  const known = validNotes(files);
  const names = new Set(known.map(({ name }) => name));
  const found = notesOf(files, boot, seal, () => reservations, fileReader(files));
  if (found.length === 0) return;
  writeNotes(files, [...known, ...found.filter(({ name }) => !names.has(name))]);
}

/**
 * Notes of the reservations that were there when another boot of this machine put the seal.
 *
 * @throws SystemError where that is not known
 */
function notesOf<T extends OwnedReservation>(
  files: NetworkFiles,
  boot: BootId,
  seal: Seal,
  reservations: () => readonly T[],
  fileOf: (reservation: T) => string | undefined,
): readonly Earlier[] {
  const { system, directory } = files;
  if (seal.machine === undefined || seal.boot === boot || !isBootId(seal.boot)) return [];
  if (files.requireMachine() !== seal.machine || !system.isLocal(directory)) return [];
  const isFromThen = fromThen(files, seal);
  return reservations().flatMap((reservation) => {
    const { name, owner } = reservation;
    // A file without an interface may be an administrator's; it is never noted.
    const key = owner.kind === "attachment" ? keyOfOwner(owner) : undefined;
    const file = key && fileOf(reservation);
    if (key === undefined || file === undefined) return [];
    const note = { boot: seal.boot, name, key, file };
    return isFromThen(note) ? [note] : [];
  });
}

/**
 * Which reservations were there when a seal was put. If the directory is unchanged: all. If not, the Go plugin may have
 * run since, in this boot, too; then those that the journal lists for their owner, and that are older than the seal.
 * Times count only while the clock has not been seen to run backwards.
 */
function fromThen(files: NetworkFiles, seal: Seal): (note: Earlier) => boolean {
  const { system } = files;
  const directory = system.status(files.directory);
  if (fingerprintOf(directory) === seal.directory) return () => true;
  const sealed = BigInt(seal.directory.split(",")[2] ?? 0);
  const now = BigInt(system.now()) * 1_000_000n;
  const journal = readJournal(files, "all");
  if (journal === undefined || directory.changed < sealed || now < sealed) return () => false;
  const listed = listedIn(journal);
  return ({ name, key, file }) =>
    listed.get(name) === key && BigInt(file.split(",")[1] ?? 0) < sealed;
}

/**
 * What was noted on this machine about earlier boots; a file of another machine has nothing.
 *
 * @throws SystemError where the file cannot be read
 */
export function readNotes(files: NetworkFiles): readonly Earlier[] {
  const [header, ...lines] = files.state?.requireLines(FILE) ?? [];
  if (header === undefined) return [];
  const boot = files.requireBoot();
  if (boot === undefined || header !== headerIn(files)) return [];
  if (!files.system.isLocal(files.directory)) return [];
  return lines.flatMap(noteIn).filter((note) => note.boot !== boot);
}

function noteIn(line: string): readonly Earlier[] {
  const [boot = "", name = "", containerId, interfaceName, file = "", ...rest] = line.split(" ");
  if (!isBootId(boot) || file === "" || rest.length > 0) return [];
  return [{ boot, name, key: `${containerId} ${interfaceName}` as OwnerKey, file }];
}

/**
 * Replaces what is noted; without notes, or on a machine without an id, nothing is.
 *
 * @throws SystemError
 */
export function writeNotes(files: NetworkFiles, notes: readonly Earlier[]): void {
  const header = headerIn(files);
  const lines = notes.map(({ boot, name, key, file }) => `${boot} ${name} ${key} ${file}`);
  const isNothing = header === undefined || lines.length === 0;
  files.state?.replaceLines(FILE, isNothing ? [] : [header, ...lines]);
}

/** The first line on this machine; `undefined` where it has no id. */
function headerIn(files: NetworkFiles): string | undefined {
  const machine = files.requireMachine();
  return machine && `${FORM} ${machine}`;
}
