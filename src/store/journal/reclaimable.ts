/** Reservations whose network namespace is gone, by the records of the journal. */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { attempt } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";
import { type NamespaceState, NamespaceStates } from "../namespaces/namespace-state.ts";
import { type JournalContent, recordsIn, requireJournal, sealedAt } from "./journal-file.ts";
import {
  type AddedNamespace,
  isAsRecorded,
  type RecordedReservation,
  recordIn,
  withWholePath,
} from "./record.ts";

const UNREAD: NamespaceState = { kind: "unseen", reason: "the journal cannot be read" };

/**
 * What a journal tells of reservations of the running boot, in its order.
 *
 * @throws SystemError where a reservation cannot be read that a record needs
 */
export function recordsOf(
  files: NetworkFiles,
  journal: JournalContent,
): readonly RecordedReservation[] {
  const { seal } = journal;
  if (seal === undefined || seal.boot !== files.boot) return [];
  // Somebody else may have released and reserved an address since, with the same inode and date.
  const bound = journal.isCurrent ? undefined : sealedAt(seal);
  const records: RecordedReservation[] = [];
  for (const line of recordsIn(journal.found).values()) {
    const record = recordIn(line, bound);
    const whole = record && withWholePath(files, record);
    if (whole !== undefined) records.push(whole);
  }
  return records;
}

/** What became of the namespaces that the journal of a network tells of, current or not; needs no lock. */
export function recordedIn(files: NetworkFiles): RecordedNamespaces {
  const read = (): readonly RecordedReservation[] => {
    const journal = requireJournal(files, "all");
    return journal === undefined ? [] : recordsOf(files, journal);
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
  readonly #records: readonly RecordedReservation[];
  readonly #isUnread: boolean;
  readonly #states: NamespaceStates;
  #byInode: ReadonlyMap<string, readonly RecordedReservation[]> | undefined;
  #byName: ReadonlyMap<string, RecordedReservation> | undefined;

  /** @param records as `recordsOf` gives them; `undefined` where they cannot be read */
  constructor(
    files: NetworkFiles,
    records: readonly RecordedReservation[] | undefined,
    states: NamespaceStates,
  ) {
    this.#files = files;
    this.#records = records ?? [];
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
    for (const record of this.#records) {
      if (!isMeant(record)) continue;
      const later = (): readonly NetworkNamespace[] => {
        const others = this.#laterThan(record);
        const isOther =
          caller?.namespace !== undefined &&
          (caller.key === record.key || caller.idEnd !== record.idEnd);
        return isOther ? [...others, caller.namespace] : others;
      };
      const isGone = this.#states.isGone(record.namespace, later);
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
    this.#byName ??= new Map(this.#records.map((one) => [one.name, one]));
    const record = this.#byName.get(name);
    const same = record !== undefined && isSame(record);
    if (record === undefined || same === false) return undefined;
    const { namespace } = record;
    const state = this.#states.stateOf(namespace, () => this.#laterThan(record));
    // What may be another reservation need not be gone; but neither is what may be the one that lives.
    return same === undefined && state.kind === "gone" ? undefined : { state, namespace };
  }

  /** What was recorded later with the same number, of other containers: of one container it may be the same namespace. */
  #laterThan(record: RecordedReservation): readonly NetworkNamespace[] {
    this.#byInode ??= Map.groupBy(this.#records, ({ namespace }) => namespace.inode);
    const same = this.#byInode.get(record.namespace.inode) ?? [];
    return same
      .slice(same.indexOf(record) + 1)
      .filter(({ idEnd }) => idEnd !== record.idEnd)
      .map(({ namespace }) => namespace);
  }
}
