/** What became of reservations, by the records of the journal and their network namespaces. */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { parseAddress } from "../../ipam/address.ts";
import { attempt } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { BEFORE_BOOT, type Fate } from "../life/conclusion.ts";
import type { AddressUse } from "../namespaces/address-use.ts";
import { NamespaceStates } from "../namespaces/namespace-state.ts";
import { namespaceName } from "../namespaces/view.ts";
import { type OpenedReservation, openAll } from "../reservations/directory-scan.ts";
import type { ReservationFile } from "../reservations/reservation-file.ts";
import { recordsOf } from "./earlier-boots.ts";
import { ALL, linesWith, requireJournal } from "./journal-file.ts";
import {
  type AddedNamespace,
  isAsRecorded,
  isEarlier,
  isOfRecord,
  isReclaimable,
  type JournalRecord,
  type RecordedReservation,
  recordIn,
} from "./record.ts";
import { NO_RECORDS, type PlacedRecord, type Records } from "./records.ts";

const UNREAD: Fate = { kind: "unread", reason: "the journal cannot be read" };

/**
 * What became of the reservations that the journal of a network tells of, current or not; needs no lock.
 *
 * @param states judges their namespaces; by default by what is seen from now on
 * @param reservations gives all, where the journal is of an earlier boot; by default they are read
 */
export function reservationStates(
  files: NetworkFiles,
  states = new NamespaceStates(files.system),
  reservations = () => openAll(files),
): ReservationStates {
  const read = (): Records => recordsOf(files, requireJournal(files, ALL), reservations);
  const records = attempt(read, undefined);
  return new ReservationStates(files, records, states);
}

/**
 * Whether the network namespace of a container is recorded for another one, too, or that cannot be read. Where the kernel
 * gives no handles, nothing tells later whether it was the same, or another one with its number.
 */
export function isShared(
  files: NetworkFiles,
  { inode }: NetworkNamespace,
  containerId: string,
): boolean {
  const states = new NamespaceStates(files.system);
  const isOfAnother = (record: JournalRecord | undefined): boolean =>
    record !== undefined &&
    !isEarlier(record) &&
    record.namespace.inode === inode &&
    record.containerId !== containerId &&
    states.isThere(record.namespace);
  const ask = (): boolean =>
    linesWith(files, ` ${inode}`).some((line) => isOfAnother(recordIn(line)));
  return attempt(ask, true);
}

/** The attachment of an ADD, and its namespace where that is known. */
interface Caller extends Pick<RecordedReservation, "key" | "containerId"> {
  readonly namespace: AddedNamespace | undefined;
}

/**
 * Whether a namespace is another one than was recorded with its number before. The kernel tells by their ids; without ids, only
 * a pod's sandbox is known to have a namespace of its own.
 */
function isAnother(later: AddedNamespace, before: AddedNamespace): boolean {
  if (later.id !== undefined) return before.id !== undefined && later.id !== before.id;
  return later.isPodSandbox;
}

type PlacedOfBoot = PlacedRecord<RecordedReservation>;

/** What became of the reservations that were recorded. */
export class ReservationStates {
  readonly #files: NetworkFiles;
  readonly #records: Records;
  /** Whether the journal, which tells of them, could not be read. */
  readonly isUnread: boolean;
  readonly #states: NamespaceStates;
  #byInode: ReadonlyMap<string, readonly PlacedOfBoot[]> | undefined;
  readonly #living = new Map<string, readonly PlacedOfBoot[]>();

  /** @param records as `recordsOf` gives them; `undefined` where they cannot be read */
  constructor(files: NetworkFiles, records: Records | undefined, states: NamespaceStates) {
    this.#files = files;
    this.#records = records ?? NO_RECORDS;
    this.isUnread = records === undefined;
    this.#states = states;
  }

  /**
   * The reservations from before this boot or whose namespace is gone, if they are still there, in the order of the journal,
   * one after the other as they are asked for.
   *
   * @param isMeant whether a record is looked at
   * @param caller for whom they are asked for: the namespace of an ADD often has the number of a pod that has just gone
   */
  *gone(
    isMeant: (record: JournalRecord) => boolean,
    caller?: Caller,
  ): Generator<JournalRecord, void> {
    for (const { place, record } of this.#records.written()) {
      if (!isMeant(record)) continue;
      const isGone =
        isEarlier(record) ||
        this.#states.isGone(record.namespace, () => this.#laterThan(place, record, caller));
      if (isGone && isAsRecorded(this.#files, record) === true) yield record;
    }
  }

  /**
   * The reservations that an ADD may reclaim, one after the other as they are asked for, the oldest first: those from before
   * this boot; then those of a pod's sandbox whose network namespace is gone, and the caller's own. Whatever became of a
   * container, an address that is in use, or may be, is not among them.
   *
   * @param wantedBy what a reservation is wanted for, by its name; `undefined` where it is not wanted
   * @param use tells which addresses are in use
   * @param caller whose ADD it is; `undefined` for any
   */
  *reclaimable<T>(
    wantedBy: (name: string) => T | undefined,
    use: AddressUse,
    caller?: Caller,
  ): Generator<{ readonly dead: ReservationFile; readonly wanted: T }, void> {
    const isMeant = (record: JournalRecord): boolean =>
      (isReclaimable(record) || record.key === caller?.key) && wantedBy(record.name) !== undefined;
    for (const dead of this.gone(isMeant, caller)) {
      const wanted = wantedBy(dead.name);
      const address = parseAddress(dead.name);
      if (wanted === undefined || address === undefined) continue;
      if (use.whyKept(address) === undefined) yield { dead, wanted };
    }
  }

  /**
   * The names of the reservations from before this boot.
   *
   * @param reservations gives all; not asked for where the journal has none of them
   */
  namesBeforeBoot(reservations: () => readonly OpenedReservation[]): ReadonlySet<string> {
    if (!this.#records.hasEarlier()) return new Set();
    const isBefore = ({ name, owner, status }: OpenedReservation): boolean => {
      const record = this.#records.of(name)?.record;
      if (status === undefined || record === undefined || !isEarlier(record)) return false;
      return isOfRecord(record, status, owner) === true;
    };
    const before = reservations().filter(isBefore);
    return new Set(before.map(({ name }) => name));
  }

  /**
   * What the journal tells of a reservation's container; `undefined` where it tells nothing of its file.
   *
   * @param isSame whether the file that the caller has found is that of a record, by default by looking at it; `undefined` where
   *   it may be another one
   */
  fateOf(
    name: string,
    isSame: (record: JournalRecord) => boolean | undefined = (record) =>
      isAsRecorded(this.#files, record),
  ): Fate | undefined {
    if (this.isUnread) return UNREAD;
    const { place, record } = this.#records.of(name) ?? {};
    if (place === undefined || record === undefined) return undefined;
    const same = isSame(record);
    if (same === false) return undefined;
    if (isEarlier(record)) return same ? BEFORE_BOOT : undefined;
    const { isPodSandbox, inode } = record.namespace;
    const later = (): Iterable<NetworkNamespace> => this.#laterThan(place, record);
    const { kind, reason, hasLeft = false } = this.#states.stateOf(record.namespace, later);
    if (kind === "alive") return { kind, namespace: namespaceName(inode), reason, hasLeft };
    if (kind === "unseen") return { kind, isPodSandbox, reason };
    // A file that may be another reservation's need not be gone; above it counts, since its namespace may be the one that lives.
    if (same === undefined) return undefined;
    return isPodSandbox ? { kind: "dead", by: "record", reason } : { kind, reason };
  }

  /**
   * The living namespaces with the same number that were recorded later, the last first, for other containers: the same
   * container may have the same namespace.
   */
  *#laterThan(
    place: number,
    { key, containerId, namespace }: RecordedReservation,
    caller?: Caller,
  ): Generator<NetworkNamespace, void> {
    if (caller?.namespace !== undefined && isAnother(caller.namespace, namespace)) {
      if (caller.key === key || caller.containerId !== containerId) yield caller.namespace;
    }
    for (const placed of this.#livingWith(namespace.inode)) {
      if (placed.place <= place) return;
      const later = placed.record;
      if (later.containerId !== containerId && isAnother(later.namespace, namespace))
        yield later.namespace;
    }
  }

  /**
   * The records with a number whose namespaces are at their paths, the last of the journal first: they are few, while thousands
   * may have had the number before.
   */
  #livingWith(inode: string): readonly PlacedOfBoot[] {
    const known = this.#living.get(inode);
    if (known !== undefined) return known;
    this.#byInode ??= this.#withHeldNumbers();
    const same = this.#byInode.get(inode) ?? [];
    const living = same.toReversed().filter(({ record }) => this.#states.isThere(record.namespace));
    this.#living.set(inode, living);
    return living;
  }

  /** The records by the numbers of namespaces that there are now. */
  #withHeldNumbers(): ReadonlyMap<string, readonly PlacedOfBoot[]> {
    const byInode = new Map<string, PlacedOfBoot[]>();
    for (const { place, record } of this.#records.all()) {
      if (isEarlier(record)) continue;
      const placed = { place, record };
      const { inode } = record.namespace;
      if (!this.#states.isHeld(inode)) continue;
      const same = byInode.get(inode);
      if (same === undefined) byInode.set(inode, [placed]);
      else same.push(placed);
    }
    return byInode;
  }
}
