/**
 * Reservations from before this boot: no network namespace survives a boot, so they belong to nobody alive. The first call of a
 * boot that keeps the journal writes it anew, and gives the lines of such reservations their boot; they are reclaimed when
 * their range is otherwise full.
 *
 * Only what is certain gets a boot: the journal's seal was put on this machine before this boot, and the reservation was there
 * when it was put, and has not changed since the kernel booted. A line is valid while the file is the one that it names.
 */

import { attempt } from "../../system/system.ts";
import { bootTime, isBootId } from "../files/boot-id.ts";
import { fingerprintOf, isUnchanged } from "../files/fingerprint.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { isAhead } from "../reservations/age.ts";
import {
  type OpenedReservation,
  type OpenedStatus,
  openAll,
} from "../reservations/directory-scan.ts";
import { keyOf, type OwnerKey } from "../reservations/owner.ts";
import { heldLine, type JournalContent, listedIn, type Seal, sealedAt } from "./journal-file.ts";
import { type EarlierReservation, formatEarlier, isEarlier, isOfRecord } from "./record.ts";
import { NO_RECORDS, Records } from "./records.ts";

const MILLISECOND = 1_000_000n;

/**
 * What a journal tells of reservations: of those for which a network namespace was recorded in the running boot, and of those
 * from before it, also if the next call under the lock is the one to write that; nothing where there is no journal.
 *
 * @param reservations gives all, where the journal is of an earlier boot; by default they are read
 * @throws SystemError where that is not known
 */
export function recordsOf(
  files: NetworkFiles,
  journal: JournalContent | undefined,
  reservations = () => openAll(files),
): Records {
  const boot = files.boot();
  if (journal === undefined || boot === undefined) return NO_RECORDS;
  const { seal } = journal;
  if (seal.boot !== boot) return new Records(linesBeforeBoot(files, journal, reservations));
  let isOwn: boolean | undefined;
  const counts = (record: EarlierReservation): boolean => {
    isOwn ??= attempt(() => isOfMachine(files, seal), false);
    return isOwn && record.boot !== boot;
  };
  return new Records(journal.found, counts);
}

/**
 * The lines about reservations from before this boot, for the journal that is written anew: those of the oldest boot first. The
 * lines of the last boot are about the reservations that were there when its seal was put.
 *
 * @param journal whole, and of an earlier boot
 * @param reservations gives all, in any order
 * @throws SystemError where that is not known
 */
export function linesBeforeBoot(
  files: NetworkFiles,
  { seal, found }: JournalContent,
  reservations: () => readonly OpenedReservation[],
): readonly string[] {
  if (!isBootId(seal.boot) || !isOfMachine(files, seal)) return [];
  const boot = files.boot();
  // A virtual machine may have been set back to a boot that others followed.
  const records = new Records(found, (record) => record.boot !== boot);
  const isFromThen = fromThen(files, seal, found);
  const older: { readonly place: number; readonly line: string }[] = [];
  const last: { readonly name: string; readonly line: string }[] = [];
  for (const { name, owner, status } of reservations()) {
    // A file without an interface may be an administrator's.
    if (owner.kind !== "attachment" || status?.kind !== "file") continue;
    const { place, record } = records.of(name) ?? {};
    const isKnown = record !== undefined && isOfRecord(record, status, owner) === true;
    if (isKnown && isEarlier(record)) {
      older.push({ place: place ?? 0, line: found[place ?? 0] ?? "" });
    } else if (isFromThen(name, keyOf(owner), status, isKnown)) {
      last.push({ name, line: heldLine(keyOf(owner), name, formatEarlier(status.id, seal.boot)) });
    }
  }
  older.sort((a, b) => a.place - b.place);
  last.sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...older, ...last].map(({ line }) => line);
}

/**
 * Whether a seal was put on this machine, and no other machine can write there.
 *
 * @throws SystemError where that is not known
 */
function isOfMachine(files: NetworkFiles, { machine }: Seal): boolean {
  if (machine === undefined) return false;
  return files.requireMachine() === machine && files.system.isLocal(files.directory);
}

/**
 * Which reservations were there when a seal was put: all, if the directory is unchanged. If not, the Go plugin may have run
 * since, in this boot, too; then only those whose files are as recorded, and those that the journal lists for their owner and
 * that are older than the seal. A reservation that has changed in this boot never counts, as far as the kernel tells when the
 * boot began: its id may be another's, and a backup may have been restored. Times count only while the clock has not been seen
 * to run backwards.
 *
 * @param found the lines of its journal
 */
function fromThen(
  files: NetworkFiles,
  seal: Seal,
  found: JournalContent["found"],
): (name: string, key: OwnerKey, status: OpenedStatus, isAsRecorded: boolean) => boolean {
  const { system } = files;
  const directory = system.status(files.directory);
  const sealed = sealedAt(seal);
  const isClockBehind = BigInt(system.now()) * MILLISECOND < sealed;
  const booted = isClockBehind ? undefined : bootTime(system);
  const isOlder = ({ changed }: OpenedStatus): boolean => booted === undefined || changed < booted;
  if (isUnchanged(fingerprintOf(directory), seal.directory)) {
    // A file dated far ahead was made while the clock was wrong: before this boot, if the directory has not changed since.
    const isOfWrongClock = ({ changed }: OpenedStatus): boolean =>
      booted !== undefined &&
      directory.changed < booted &&
      isAhead(Number(changed / MILLISECOND), system.now());
    return (_name, _key, status) => isOlder(status) || isOfWrongClock(status);
  }
  if (directory.changed < sealed || isClockBehind) return () => false;
  const listed = listedIn(found);
  return (name, key, status, isAsRecorded) =>
    isOlder(status) && (isAsRecorded || (listed.get(name) === key && status.changed < sealed));
}
