/**
 * Reservations from before this boot: no network namespace survives a boot, so they belong to nobody alive. They are
 * noted by the first call of a boot that keeps the journal, and give way when their range is otherwise full.
 *
 * Only what is certain is noted: the journal's seal is of another boot of this machine, and the reservation was there
 * when it was put. A note is valid while the file is the one that was noted.
 */

import { isSystemError, type System } from "../../system/system.ts";
import {
  type BootId,
  bootId,
  isBootId,
  type MachineId,
  machineId,
  requireBootId,
} from "../files/boot-id.ts";
import { identityOf } from "../files/fingerprint.ts";
import { join, type Location } from "../files/paths.ts";
import { withSafeStateDirectory } from "../files/state-directory.ts";
import { requireStateLines, writeStateLines } from "../files/state-file.ts";
import { allIn, readAll } from "../reservations/directory-scan.ts";
import { type OwnedReservation, readOwner } from "../reservations/reservation-file.ts";
import { type Key, keyOfOwner, listedIn, readJournal, type Seal, sealOf } from "./journal-file.ts";

/** A reservation that was noted. */
export interface Earlier {
  /** The last boot in which it was held. */
  readonly boot: BootId;
  /** The name of its file. */
  readonly name: string;
  readonly key: Key;
  /** Inode and time of last modification of its file. */
  readonly file: string;
}

/** What the first line begins with; the machine follows. */
const FORM = "host-local-before-boot 1";

/** The name of the file, in the state directory. */
const FILE = "before-boot";

/** The reservations from before this boot, those of the oldest boot first; needs no lock. */
export function readBeforeBoot(system: System, location: Location): readonly Earlier[] {
  try {
    return readNotes(system, location).filter((note) => isStillThere(system, location, note));
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/**
 * The file names of the reservations from before this boot, also of those that the next call under the lock will note; for
 * readers that have not examined the state directory.
 */
export function namesBeforeBoot(system: System, place: Location): ReadonlySet<string> {
  const location = withSafeStateDirectory(system, place);
  const notes = [...readBeforeBoot(system, location)];
  const journal = readJournal(system, location, undefined);
  const [boot, seal] = [bootId(system), journal && sealOf(journal)];
  if (boot !== undefined && seal !== undefined) {
    try {
      notes.push(...unnoted(system, location, boot, seal, () => allIn(readAll(system, location))));
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
  return new Set(notes.map(({ name }) => name));
}

/** Whether the reservation that was noted is still there. */
export function isStillThere(system: System, location: Location, note: Earlier): boolean {
  const { name, key } = note;
  return (
    isNotedFile(system, join(location.directory, name), note) &&
    keyOfOwner(readOwner(system, location, name)) === key
  );
}

/** Whether a file, under whatever name, is the one that was noted. */
export function isNotedFile(system: System, path: string, { file }: Earlier): boolean {
  try {
    return fileAt(system, path) === file;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
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
  system: System,
  location: Location,
  boot: BootId,
  seal: Seal,
  reservations: readonly OwnedReservation[],
): void {
  const known = readBeforeBoot(system, location);
  const names = new Set(known.map(({ name }) => name));
  const found = unnoted(system, location, boot, seal, () => reservations);
  const notes = [...known, ...found.filter(({ name }) => !names.has(name))];
  if (found.length > 0) replaceBeforeBoot(system, location, notes);
}

/**
 * The reservations that were there when another boot of this machine put the seal.
 *
 * @throws SystemError where that is not known
 */
function unnoted(
  system: System,
  location: Location,
  boot: BootId,
  seal: Seal,
  reservations: () => readonly OwnedReservation[],
): readonly Earlier[] {
  if (seal.machine === undefined || seal.boot === boot || !isBootId(seal.boot)) return [];
  if (machineId(system) !== seal.machine || !system.isLocal(location.directory)) return [];
  const isFromThen = fromThen(system, location, seal);
  return reservations().flatMap((reservation) => {
    const note = noteOf(system, location, seal.boot, reservation);
    return note !== undefined && isFromThen(note) ? [note] : [];
  });
}

/** A file without an interface may be an administrator's; it is never noted. */
function noteOf(
  system: System,
  location: Location,
  boot: BootId,
  { name, owner }: OwnedReservation,
): Earlier | undefined {
  const key = owner.kind === "attachment" ? keyOfOwner(owner) : undefined;
  const file = key && fileAt(system, join(location.directory, name));
  return key === undefined || file === undefined ? undefined : { boot, name, key, file };
}

/**
 * Which reservations were there when a seal was put. If the directory is unchanged: all. If not, the Go plugin may have
 * run since, in this boot, too; then those that the journal lists for their owner, and that are older than the seal.
 * Times count only while the clock has not been seen to run backwards.
 */
function fromThen(system: System, location: Location, seal: Seal): (note: Earlier) => boolean {
  const directory = system.status(location.directory);
  if (identityOf(directory) === seal.directory) return () => true;
  const sealed = BigInt(seal.directory.split(",")[2] ?? 0);
  const now = BigInt(system.now()) * 1_000_000n;
  const journal = readJournal(system, location, "");
  if (journal === undefined || directory.changed < sealed || now < sealed) return () => false;
  const listed = listedIn(journal);
  return ({ name, key, file }) =>
    listed.get(name) === key && BigInt(file.split(",")[1] ?? 0) < sealed;
}

/**
 * Replaces what is noted.
 *
 * @throws SystemError
 */
export function replaceBeforeBoot(
  system: System,
  location: Location,
  notes: readonly Earlier[],
): void {
  const machine = machineId(system);
  if (machine === undefined) removeBeforeBoot(system, location);
  else writeNotes(system, location, machine, notes);
}

/**
 * Forgets everything that was noted.
 *
 * @throws SystemError
 */
export function removeBeforeBoot(system: System, location: Location): void {
  writeStateLines(system, location, FILE, []);
}

/**
 * What was noted on this machine about earlier boots; a file of another machine has nothing.
 *
 * @throws SystemError where the file cannot be read
 */
export function readNotes(system: System, location: Location): readonly Earlier[] {
  const [header = "", ...lines] = requireStateLines(system, location, FILE);
  if (header === "") return [];
  const [boot, machine] = [requireBootId(system), machineId(system)];
  if (boot === undefined || machine === undefined || header !== headerOf(machine)) return [];
  if (!system.isLocal(location.directory)) return [];
  return lines.flatMap(noteIn).filter((note) => note.boot !== boot);
}

function noteIn(line: string): readonly Earlier[] {
  const [boot = "", name = "", containerId, interfaceName, file = "", ...rest] = line.split(" ");
  if (!isBootId(boot) || file === "" || rest.length > 0) return [];
  return [{ boot, name, key: `${containerId} ${interfaceName}` as Key, file }];
}

function writeNotes(
  system: System,
  location: Location,
  machine: MachineId,
  notes: readonly Earlier[],
): void {
  const lines = notes.map(({ boot, name, key, file }) => `${boot} ${name} ${key} ${file}`);
  writeStateLines(system, location, FILE, lines.length === 0 ? [] : [headerOf(machine), ...lines]);
}

function headerOf(machine: MachineId): string {
  return `${FORM} ${machine}`;
}

/**
 * Inode and time of last modification of a regular file; `undefined` where there is none.
 *
 * @throws SystemError where that is not known
 */
function fileAt(system: System, path: string): string | undefined {
  try {
    const { kind, inode, modified } = system.linkStatus(path);
    return kind === "file" ? `${inode},${modified}` : undefined;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}
