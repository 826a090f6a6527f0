/** Reservations whose network namespace is gone, by the records of the journal. */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { attempt } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { type NamespaceState, NamespaceStates } from "../namespaces/namespace-state.ts";
import { requireJournal } from "./journal-file.ts";
import {
  type AddedNamespace,
  isAsRecorded,
  type RecordedReservation,
  withWholePath,
} from "./record.ts";
import { NO_RECORDS, type PlacedRecord, type Records, recordsOf } from "./records.ts";

const UNREAD: NamespaceState = { kind: "unseen", reason: "the journal cannot be read" };

/** What became of the namespaces that the journal of a network tells of, current or not; needs no lock. */
export function recordedIn(files: NetworkFiles): RecordedNamespaces {
  const read = (): Records => {
    const journal = requireJournal(files, "all");
    return journal === undefined ? NO_RECORDS : recordsOf(files, journal);
  };
  const records = attempt(read, undefined);
  return new RecordedNamespaces(files, records, new NamespaceStates(files.system));
}

/** The names of the reservations that any ADD may reclaim: of pod sandboxes whose namespace is gone; needs no lock. */
export function namesOfGonePods(files: NetworkFiles): readonly string[] {
  const namespaces = recordedIn(files);
  return [...namespaces.gone(({ namespace }) => namespace.isPodSandbox)].map(({ name }) => name);
}

/** The attachment of an ADD, and its namespace where that is known. */
interface Caller extends Pick<RecordedReservation, "key" | "idEnd"> {
  readonly namespace: NetworkNamespace | undefined;
}

/** Says what became of the namespaces of recorded reservations. */
export class RecordedNamespaces {
  readonly #files: NetworkFiles;
  readonly #records: Records;
  readonly #isUnread: boolean;
  readonly #states: NamespaceStates;
  #byInode: Map<string, PlacedRecord[]> | undefined;
  /** The numbers of which only living records are left there. */
  readonly #seen = new Set<string>();

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
      if (!isMeant(placed.record)) continue;
      const record = this.#whole(placed.record);
      if (record === undefined || record === "unread") continue;
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
    const same = placed !== undefined && isSame(placed.record);
    if (placed === undefined || same === false) return undefined;
    const whole = this.#whole(placed.record);
    if (whole === "unread") return { state: UNREAD };
    if (whole === undefined) return undefined;
    const { namespace } = whole;
    const state = this.#states.stateOf(namespace, () => this.#laterThan(placed));
    // What may be another reservation need not be gone; but neither is what may be the one that lives.
    return same === undefined && state.kind === "gone" ? undefined : { state, namespace };
  }

  /**
   * The namespaces that live with the same number and were recorded later, the last first; of other containers: of one
   * container it may be the same namespace.
   */
  *#laterThan({ place, record }: PlacedRecord, caller?: Caller): Generator<NetworkNamespace, void> {
    const { key, idEnd, namespace } = record;
    if (caller?.namespace !== undefined) {
      if (caller.key === key || caller.idEnd !== idEnd) yield caller.namespace;
    }
    const living = this.#livingWith(namespace.inode);
    for (let at = living.length - 1; at >= 0; at--) {
      const one = living[at];
      if (one === undefined || one.place <= place) return;
      if (one.record.idEnd !== idEnd) yield one.record.namespace;
    }
  }

  /**
   * The records with a number whose namespaces are at their paths, in the order of the journal: few, while thousands may
   * have had it before. One that has it alone need not be looked at.
   */
  #livingWith(inode: string): readonly PlacedRecord[] {
    this.#byInode ??= this.#withHeldNumbers();
    const same = this.#byInode.get(inode) ?? [];
    if (same.length < 2 || this.#seen.has(inode)) return same;
    const living = same.flatMap(({ place, record }) => {
      const whole = this.#whole(record);
      if (whole === undefined || whole === "unread") return [];
      return this.#states.isThere(whole.namespace) ? [{ place, record: whole }] : [];
    });
    this.#seen.add(inode);
    this.#byInode.set(inode, living);
    return living;
  }

  /** As `withWholePath`; what cannot be read does not matter for any other. */
  #whole(record: RecordedReservation): RecordedReservation | "unread" | undefined {
    return attempt(() => withWholePath(this.#files, record), "unread");
  }

  /** The records by the numbers of namespaces that there are now. */
  #withHeldNumbers(): Map<string, PlacedRecord[]> {
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
