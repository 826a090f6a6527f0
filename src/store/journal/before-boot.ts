/**
 * Reservations from before this boot: no network namespace survives a boot, so they belong to nobody alive. They are
 * noted by the first call of a boot that keeps the journal, and are reclaimed when their range is otherwise full.
 *
 * Only what is certain is noted: the journal's seal was put on this machine before this boot, and the reservation was there
 * when it was put, and has not changed since the kernel booted. A note is valid while the file is the one that was noted:
 * one that is void does no harm, so nothing is written when a reservation is reclaimed.
 */

import { eachLine } from "../../system/lines.ts";
import { attempt, type FileStatus } from "../../system/system.ts";
import { type BootId, bootTime, isBootId } from "../files/boot-id.ts";
import {
  type FileId,
  fileIdAt,
  fileIdOf,
  fingerprintOf,
  isUnchanged,
} from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { allIn, readAll } from "../reservations/directory-scan.ts";
import { keyIn, keyOf, type Owner } from "../reservations/owner.ts";
import {
  type NamedReservation,
  type ReservationFile,
  readOwner,
} from "../reservations/reservation-file.ts";
import { ALL, listedIn, readJournal, type Seal, sealedAt } from "./journal-file.ts";

/** A reservation that was noted. */
interface Note extends ReservationFile {
  /** The last boot in which it was held. */
  readonly boot: BootId;
}

/** What the first line begins with; the machine follows. */
const FORM = "host-local-before-boot 2";

/** The name of the file, in the state directory. */
const FILE = "before-boot";

/** So many void notes are left by whoever finds an address before the last note; a file with 65 000 takes longer to write. */
const MOST_GONE = 99;

/** It is not larger, in bytes: a note of each address of a /16 takes 9 MiB. */
const LARGEST = 32 * 1024 * 1024;

/** What is looked at of a reservation's file. */
type Status = Pick<FileStatus, "kind" | "inode" | "modified" | "changed">;

/** A reservation that was read, with the status of its file. */
interface ReadReservation extends NamedReservation {
  /** `undefined` where it is not known. */
  readonly status: Status | undefined;
}

/**
 * The file names of the reservations from before this boot, also of those that the next call under the lock will note;
 * needs no lock.
 *
 * @param reservations gives all, if any can be from before this boot; by default they are read
 */
export function namesBeforeBoot(
  files: NetworkFiles,
  reservations = (): readonly ReadReservation[] => withStatus(files, allIn(readAll(files))),
): ReadonlySet<string> {
  const notes = attempt(() => notesByName(files), new Map<string, Note>());
  const isNoted = ({ name, owner, status }: ReadReservation): boolean =>
    status !== undefined && isNoteOf(notes.get(name), owner, status);
  let read: readonly ReadReservation[] | undefined;
  const all = (): readonly ReadReservation[] => {
    read ??= reservations();
    return read;
  };
  const found = notes.size === 0 ? [] : all().filter(isNoted);
  return new Set([...found, ...unnotedAmong(files, all)].map(({ name }) => name));
}

/** Those that the next call under the lock will note. */
function unnotedAmong(
  files: NetworkFiles,
  reservations: () => readonly ReadReservation[],
): readonly Note[] {
  const seal = readJournal(files, undefined)?.seal;
  const { boot } = files;
  if (boot === undefined || seal === undefined) return [];
  return attempt(() => notesOf(files, boot, seal, reservations, new Map()), []);
}

/** Reads the status of the reservations' files. */
function withStatus<T extends NamedReservation>(
  files: NetworkFiles,
  reservations: readonly T[],
): readonly (T & { readonly status: Status | undefined })[] {
  const read = (name: string): Status => files.system.linkStatus(files.pathOf(name));
  return reservations.map((one) => ({
    ...one,
    status: attempt(() => read(one.name), undefined, "ENOENT"),
  }));
}

function isNoteOf(note: Note | undefined, owner: Owner, status: Status): boolean {
  return note?.file === fileIdOf(status) && note.key === keyOf(owner);
}

function notesByName(files: NetworkFiles): Map<string, Note> {
  return new Map([...readNotes(files)].map((note) => [note.name, note]));
}

/**
 * The notes whose reservations are still there, those of the oldest boot first, one after the other as they are asked for. To
 * be called under the lock: void notes, whose file is gone or another one, are removed in the end if they are many, or if no
 * further note is there.
 *
 * @param wantedBy what a reservation is wanted for, by its name; `undefined` where it is not wanted
 * @throws SystemError where the notes cannot be read
 */
export function* reclaimable<T>(
  files: NetworkFiles,
  wantedBy: (name: string) => T | undefined,
): Generator<{ readonly dead: Note; readonly wanted: T }, void> {
  const gone: Note[] = [];
  let mostGone = MOST_GONE;
  try {
    for (const note of readNotes(files)) {
      const wanted = wantedBy(note.name);
      if (wanted === undefined) continue;
      // Where that is not known, the note may still be valid.
      const file = attempt(() => fileIdAt(files.system, files.pathOf(note.name)), null);
      if (file === note.file) {
        if (keyOf(readOwner(files, note.name)) === note.key) yield { dead: note, wanted };
      } else if (file !== null) {
        gone.push(note);
      }
    }
    mostGone = 0;
  } finally {
    if (gone.length > mostGone) attempt(() => forget(files, gone), undefined);
  }
}

/**
 * Notes the reservations from before this boot, beside those that are noted already. To be called under the lock, before
 * anything is changed.
 *
 * @param boot the running boot
 * @param seal that of the journal, as this call has found it
 * @param reservations gives all that there are, in any order
 * @throws SystemError
 */
export function noteBeforeBoot(
  files: NetworkFiles,
  boot: BootId,
  seal: Seal,
  reservations: () => readonly NamedReservation[],
): void {
  const known = notesByName(files);
  const found = notesOf(files, boot, seal, () => withStatus(files, reservations()), known);
  if (found.length === 0) return;
  // By their names, since all are of one boot.
  write(files, [...[...known.values()].map(lineOf), ...found.map(lineOf).sort()]);
}

/**
 * Notes of the reservations that were there when the seal was put, if that was on this machine before this boot.
 *
 * @param known notes that there are; those that are void are removed
 * @throws SystemError where that is not known
 */
function notesOf(
  files: NetworkFiles,
  boot: BootId,
  seal: Seal,
  reservations: () => readonly ReadReservation[],
  known: Map<string, Note>,
): Note[] {
  const { system, directory } = files;
  if (seal.machine === undefined || seal.boot === boot || !isBootId(seal.boot)) return [];
  if (files.requireMachine() !== seal.machine || !system.isLocal(directory)) return [];
  const isFromThen = fromThen(files, seal);
  const there = new Set<string>();
  const notes: Note[] = [];
  for (const { name, owner, status } of reservations()) {
    // A file without an interface may be an administrator's; it is never noted.
    if (owner.kind !== "attachment") continue;
    if (status?.kind !== "file") continue;
    const note = { boot: seal.boot, name, key: keyOf(owner), file: fileIdOf(status) };
    if (isNoteOf(known.get(name), owner, status)) there.add(name);
    else if (isFromThen(note, status)) notes.push(note);
  }
  for (const name of known.keys()) if (!there.has(name)) known.delete(name);
  return notes;
}

/**
 * Which reservations were there when a seal was put. If the directory is unchanged: all. If not, the Go plugin may have
 * run since, in this boot, too; then those that the journal lists for their owner, and that are older than the seal.
 * None that has changed in this boot, as far as the kernel tells when that began: its id may be another's, and a backup
 * may have been restored. Times count only while the clock has not been seen to run backwards.
 */
function fromThen(files: NetworkFiles, seal: Seal): (note: Note, status: Status) => boolean {
  const { system } = files;
  const directory = system.status(files.directory);
  const sealed = sealedAt(seal);
  const isClockBehind = BigInt(system.now()) * 1_000_000n < sealed;
  const booted = isClockBehind ? undefined : bootTime(system);
  const isOlder = ({ changed }: Status): boolean => booted === undefined || changed < booted;
  if (isUnchanged(fingerprintOf(directory), seal.directory)) return (_, status) => isOlder(status);
  const journal = readJournal(files, ALL);
  if (journal === undefined || directory.changed < sealed || isClockBehind) return () => false;
  const listed = listedIn(journal);
  return ({ name, key }, status) =>
    listed.get(name) === key && status.modified < sealed && isOlder(status);
}

/**
 * What was noted on this machine from before this boot, one after the other as they are asked for: there may be 65 000. A file
 * of another machine has nothing.
 *
 * @throws SystemError where the file cannot be read
 */
export function* readNotes(files: NetworkFiles): Generator<Note, void> {
  const lines = eachLine(files.state?.requireText(FILE, LARGEST) ?? "");
  const header = lines.next().value;
  if (header === undefined) return;
  const boot = files.requireBoot();
  if (boot === undefined || header !== headerOf(files)) return;
  if (!files.system.isLocal(files.directory)) return;
  for (const line of lines) {
    const note = noteIn(line);
    if (note !== undefined && note.boot !== boot) yield note;
  }
}

/** @throws SystemError */
function forget(files: NetworkFiles, notes: readonly Note[]): void {
  const gone = new Set(notes.map(lineOf));
  const lines = [...readNotes(files)].map(lineOf);
  write(
    files,
    lines.filter((line) => !gone.has(line)),
  );
}

/** @throws SystemError */
function write(files: NetworkFiles, lines: readonly string[]): void {
  files.state?.replaceLines(FILE, lines.length === 0 ? [] : [headerOf(files), ...lines]);
}

/** @throws SystemError where the machine is not known */
function headerOf(files: NetworkFiles): string {
  return `${FORM} ${files.requireMachine()}`;
}

function lineOf({ boot, name, key, file }: Note): string {
  return `${boot} ${name} ${key} ${file}`;
}

function noteIn(line: string): Note | undefined {
  const words = line.split(" ");
  if (words.length !== 5) return undefined;
  const [boot, name, idEnd, interfaceName, file] = words as [
    string,
    string,
    string,
    string,
    FileId,
  ];
  return isBootId(boot) ? { boot, name, key: keyIn(idEnd, interfaceName), file } : undefined;
}
