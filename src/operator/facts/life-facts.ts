/** What is read of the node to judge who is alive. It says nothing of anybody: the judgements do, which read nothing. */

import { formatAddress } from "../../ipam/address.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { journalFault } from "../../store/journal/journal-file.ts";
import { isOfRecord } from "../../store/journal/record.ts";
import { reservationStates } from "../../store/journal/reservation-states.ts";
import type { Fate } from "../../store/life/conclusion.ts";
import { AddressUse, type AddressUser } from "../../store/namespaces/address-use.ts";
import { AddressesInUse, type Namespace } from "../../store/namespaces/addresses-in-use.ts";
import { LinkedAddresses, type LinkedNamespace } from "../../store/namespaces/linked-addresses.ts";
import { NamespaceStates, type PathState } from "../../store/namespaces/namespace-state.ts";
import { seesHostProcesses } from "../../store/namespaces/sight.ts";
import {
  isOutsideNode,
  lookAround,
  namespaceOf,
  nodeNamespaceOf,
} from "../../store/namespaces/view.ts";
import type { HeldAddress } from "../../store/reservations/reservation-file.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, LARGEST_FILE } from "../../system/system.ts";
import type { ResultsCache } from "../alive/cache/results-cache.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import { once, onceFor } from "../once.ts";

/** The standpoint of this process: network namespaces, as the kernel names them; `undefined` where they cannot be seen. */
export interface Standpoint {
  /** Whether the processes of the node are seen, and not only those of a container. */
  readonly seesNode: boolean;
  /** Whether this process is known to be outside the node's namespace: the kernel does not tell it what is linked with that. */
  readonly isElsewhere: boolean;
  readonly ofNode: string | undefined;
  readonly ofFirstProcess: string | undefined;
  readonly own: string | undefined;
}

/** The network namespaces of the node, all of the same moment. */
export type SeenNamespaces = Pick<
  AddressesInUse,
  "all" | "incomplete" | "nodeAddresses" | "withAddress" | "withId" | "isLinked"
>;

/** An address that is in use, by its canonical form, and who uses it. */
export interface UsedAddress extends HeldAddress {
  readonly user: AddressUser;
}

/**
 * What shows who is alive, each part read once, when it is first asked for. Whoever adds to it keeps the order: libcni's names
 * before the reservations, these before the namespaces. What is added meanwhile is then known, and what ends meanwhile is not
 * taken for alive.
 */
export interface LifeFacts {
  readonly now: () => number;
  readonly cache: Pick<ResultsCache, "knownOf" | "knownBut" | "podOf">;
  /** The reservations of all networks: they tell whose a network namespace is. */
  readonly held: readonly NetworkDirectory[];
  /** What the journal tells of a reservation's container. */
  readonly fateOf: (reservation: NodeReservation) => Fate | undefined;
  readonly namespaces: () => SeenNamespaces;
  /** Why not all processes are seen; `undefined` where they are. */
  readonly whyUnseen: () => string | undefined;
  /** The addresses of the namespaces linked with the node's, in their canonical form. */
  readonly linked: () => ReadonlyMap<string, ReadonlySet<LinkedNamespace>>;
  /** The id that the node's namespace has for another one. */
  readonly linkedIdOf: (namespace: Namespace) => number | "none" | "unseen";
  /** What is at the path of a network namespace that libcni's cache names. */
  readonly at: (path: string) => PathState;
  readonly standpoint: () => Standpoint;
}

/** Reads these facts from the machine. */
export class NodeLifeFacts implements LifeFacts {
  readonly #system: OperatorSystem;
  readonly cache: ResultsCache;
  readonly held: readonly NetworkDirectory[];
  /** What became of namespaces, by records and by paths. */
  readonly states: NamespaceStates;
  /** What is seen of the node: looked at once, so that all is judged by the same moment. */
  readonly #view = once(() => lookAround(this.#system));
  readonly #linked = once(
    () => new LinkedAddresses(this.#system, undefined, !this.standpoint().isElsewhere),
  );
  readonly namespaces = once(() => new AddressesInUse(this.#system, this.#view(), this.#linked()));
  readonly standpoint = once(
    (): Standpoint => ({
      seesNode: seesHostProcesses(this.#system),
      isElsewhere: isOutsideNode(this.#system),
      ofNode: nodeNamespaceOf(this.#system),
      ofFirstProcess: namespaceOf(this.#system, "1"),
      own: namespaceOf(this.#system, "self"),
    }),
  );

  constructor(system: OperatorSystem, cache: ResultsCache, held: readonly NetworkDirectory[]) {
    this.#system = system;
    this.cache = cache;
    this.held = held;
    this.states = new NamespaceStates(system, this.#view);
  }

  now(): number {
    return this.#system.now();
  }

  /** How long the node has been up, in milliseconds: `/proc/uptime` begins with the seconds. */
  readonly uptime = once((): number | undefined => {
    const text = attempt(() => this.#system.readFile("/proc/uptime", LARGEST_FILE), "");
    const seconds = Number.parseFloat(text);
    return Number.isNaN(seconds) ? undefined : seconds * 1000;
  });

  whyUnseen(): string | undefined {
    return this.#view().incomplete;
  }

  linked(): ReadonlyMap<string, ReadonlySet<LinkedNamespace>> {
    return this.#linked().all();
  }

  readonly linkedIdOf = onceFor(({ reachedAt }: Namespace): number | "none" | "unseen" => {
    if (this.standpoint().isElsewhere) return "none";
    return attempt(() => this.#system.namespaceId(reachedAt) ?? "none", "unseen");
  });

  readonly at = onceFor((path: string): PathState => this.states.at(path));

  /** What uses the addresses of a network. */
  useIn(files: NetworkFiles): AddressUse {
    return new AddressUse(files, { linked: this.#linked(), inUse: this.namespaces });
  }

  /**
   * The addresses of a network's ranges that are in use, with those who use them: no ADD gets one, whether it is reserved or
   * not.
   */
  readonly inUseIn = onceFor(({ files, rangeSets }: NetworkDirectory): readonly UsedAddress[] =>
    [...this.useIn(files).inSets(rangeSets)].map(([address, user]) => {
      return { address, name: formatAddress(address), user };
    }),
  );

  /**
   * What the journal of a network tells, and why it cannot be read; where its directory may not be searched, the plugin takes it
   * for none. After a boot all reservations are read for it.
   */
  readonly journalOf = onceFor((network: NetworkDirectory) => {
    const { files } = network;
    return {
      fault: journalFault(files),
      states: reservationStates(files, this.states, () => network.reservations),
    };
  });

  fateOf(reservation: NodeReservation): Fate | undefined {
    const { network, name, owner, status } = reservation;
    if (status === undefined) return undefined;
    // If only this reservation was read, the others stay unread.
    const journal = network.isRead
      ? this.journalOf(network).states
      : reservationStates(network.files, this.states, () => [reservation]);
    return journal.fateOf(name, (record) => isOfRecord(record, status, owner));
  }
}
