/** Reservations whose network namespace is gone, by the records of the journal. */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { attempt } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { type NamespaceState, NamespaceStates } from "../namespaces/namespace-state.ts";
import { ALL, requireJournal } from "./journal-file.ts";
import { type AddedNamespace, isAsRecorded, type RecordedReservation } from "./record.ts";
import { NO_RECORDS, type PlacedRecord, type Records, recordsOf } from "./records.ts";

const UNREAD: NamespaceState = { kind: "unseen", reason: "the journal cannot be read" };

/** What became of the namespaces that the journal of a network tells of, current or not; needs no lock. */
export function recordedIn(
  files: NetworkFiles,
  states = new NamespaceStates(files.system),
): RecordedNamespaces {
  const read = (): Records => recordsOf(files, requireJournal(files, ALL));
  const records = attempt(read, undefined);
  return new RecordedNamespaces(files, records, states);
}

/** The names of the reservations that any ADD may reclaim: of pod sandboxes whose namespace is gone; needs no lock. */
export function namesOfGonePods(files: NetworkFiles): readonly string[] {
  const namespaces = recordedIn(files);
  return [...namespaces.gone(({ namespace }) => namespace.isPodSandbox)].map(({ name }) => name);
}

/** The attachment of an ADD, and its namespace where that is known. */
interface Caller extends Pick<RecordedReservation, "key" | "containerId"> {
  readonly namespace: AddedNamespace | undefined;
}

/**
 * Whether a namespace is not the one that was recorded with its number before: the kernel tells by their ids; without, only a
 * pod's sandbox has one that is no other container's.
 */
function isAnother(later: AddedNamespace, before: AddedNamespace): boolean {
  const isKnown = later.id !== undefined && before.id !== undefined;
  return isKnown ? later.id !== before.id : later.isPodSandbox;
}

/** Says what became of the namespaces of recorded reservations. */
export class RecordedNamespaces {
  readonly #files: NetworkFiles;
  readonly #records: Records;
  readonly #isUnread: boolean;
  readonly #states: NamespaceStates;
  #byInode: ReadonlyMap<string, readonly PlacedRecord[]> | undefined;
  readonly #living = new Map<string, readonly PlacedRecord[]>();

  /** @param records as `recordsOf` gives them; `undefined` where they cannot be read */
  constructor(files: NetworkFiles, records: Records | undefined, states: NamespaceStates) {
    this.#files = files;
    this.#records = records ?? NO_RECORDS;
    this.#isUnread = records === undefined;
    this.#states = states;
  }

  /**
   * Those whose namespace is gone, and that are still there, in the order of the journal, one after the other as they are
   * asked for.
   *
   * @param isMeant whether a record is looked at
   * @param caller for whom they are asked for: the namespace of an ADD often has the number of a pod that has just gone
   */
  *gone(
    isMeant: (record: RecordedReservation) => boolean,
    caller?: Caller,
  ): Generator<RecordedReservation, void> {
    for (const placed of this.#records.all()) {
      const { record } = placed;
      if (!isMeant(record)) continue;
      const isGone = this.#states.isGone(record.namespace, () => this.#laterThan(placed, caller));
      if (isGone && isAsRecorded(this.#files, record) === true) yield record;
    }
  }

  /** What became of the namespace of a reservation; `undefined` where nothing is recorded of it as it is now. */
  stateOf(name: string): NamespaceState | undefined {
    return this.find(name, (record) => isAsRecorded(this.#files, record))?.state;
  }

  /**
   * What became of the namespace of a reservation, and whether it was that of a pod's sandbox; `undefined` where nothing is
   * recorded of its file.
   *
   * @param isSame whether the file that the caller has found is that of a record; `undefined` where it may be another one
   */
  find(
    name: string,
    isSame: (record: RecordedReservation) => boolean | undefined,
  ): { readonly state: NamespaceState; readonly namespace?: AddedNamespace } | undefined {
    if (this.#isUnread) return { state: UNREAD };
    const placed = this.#records.of(name);
    if (placed === undefined) return undefined;
    const same = isSame(placed.record);
    if (same === false) return undefined;
    const { namespace } = placed.record;
    const state = this.#states.stateOf(namespace, () => this.#laterThan(placed));
    // What may be another reservation need not be gone; but neither is what may be the one that lives.
    return same === undefined && state.kind === "gone" ? undefined : { state, namespace };
  }

  /**
   * The namespaces that live with the same number and were recorded later, the last first; of other containers: of one
   * container it may be the same namespace.
   */
  *#laterThan({ place, record }: PlacedRecord, caller?: Caller): Generator<NetworkNamespace, void> {
    const { key, containerId, namespace } = record;
    if (caller?.namespace !== undefined && isAnother(caller.namespace, namespace)) {
      if (caller.key === key || caller.containerId !== containerId) yield caller.namespace;
    }
    for (const one of this.#livingWith(namespace.inode)) {
      if (one.place <= place) return;
      const later = one.record;
      if (later.containerId !== containerId && isAnother(later.namespace, namespace))
        yield later.namespace;
    }
  }

  /**
   * The records with a number whose namespaces are at their paths, the last of the journal first: few, while thousands may
   * have had it before.
   */
  #livingWith(inode: string): readonly PlacedRecord[] {
    const known = this.#living.get(inode);
    if (known !== undefined) return known;
    this.#byInode ??= this.#withHeldNumbers();
    const same = this.#byInode.get(inode) ?? [];
    const living = same.toReversed().filter(({ record }) => this.#states.isThere(record.namespace));
    this.#living.set(inode, living);
    return living;
  }

  /** The records by the numbers of namespaces that there are now. */
  #withHeldNumbers(): ReadonlyMap<string, readonly PlacedRecord[]> {
    const byInode = new Map<string, PlacedRecord[]>();
    for (const placed of this.#records.all()) {
      const { inode } = placed.record.namespace;
      if (!this.#states.isHeld(inode)) continue;
      const same = byInode.get(inode);
      if (same === undefined) byInode.set(inode, [placed]);
      else same.push(placed);
    }
    return byInode;
  }
}
