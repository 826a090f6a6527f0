/** What shows whether a reservation's container is alive: the network namespaces of the node, and libcni's cache. */

import { type AddressRange, formatAddress, isWithin, parseAddress } from "../../ipam/address.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { journalFault } from "../../store/journal/journal-file.ts";
import { isOfRecord } from "../../store/journal/record.ts";
import {
  type ReservationStates,
  reservationStates,
} from "../../store/journal/reservation-states.ts";
import { AddressUse, type AddressUser } from "../../store/namespaces/address-use.ts";
import { isLocal } from "../../store/namespaces/addresses.ts";
import { AddressesInUse, type Namespace } from "../../store/namespaces/addresses-in-use.ts";
import { LinkedAddresses } from "../../store/namespaces/linked-addresses.ts";
import { NamespaceStates, processIn } from "../../store/namespaces/namespace-state.ts";
import { seesHostProcesses } from "../../store/namespaces/sight.ts";
import {
  isOutsideNode,
  lookAround,
  nameOf,
  namespaceOf,
  nodeNamespaceOf,
  type View,
} from "../../store/namespaces/view.ts";
import { isYoung } from "../../store/reservations/age.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { HeldAddress } from "../../store/reservations/reservation-file.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import type { CachedAttachment } from "./cache/cached-attachment.ts";
import type { ResultsCache } from "./cache/results-cache.ts";
import {
  type Conclusion,
  conclude,
  type Evidence,
  type NamedNamespace,
  type RecordedNamespace,
} from "./conclusion.ts";
import { OpenNamespaces } from "./open-namespaces.ts";

/** How long an ADD may be under way that has not yet configured the address it reserved, in milliseconds. */
const LONGEST_ADD = 2 * 60_000;

const UNLINKED = "what is linked with the network namespace of the node is not seen from this one";

const NONE: readonly Namespace[] = [];

/** An address that is in use, by its canonical form, and who uses it. */
export interface UsedAddress extends HeldAddress {
  readonly user: AddressUser;
}

/** What of an attachment shows whether it is alive. */
type Named = Pick<CachedAttachment, "networkNamespace" | "addresses">;

/** A reservation, and what is known of its container. */
export interface KnownReservation {
  readonly reservation: NodeReservation;
  readonly conclusion: Conclusion;
  /** Once something has been released, the node does not tell it any more. */
  readonly isBeforeBoot: boolean;
}

/** Gathers the evidence, each part once and only if it is asked for. */
export class LivenessChecker {
  readonly #system: OperatorSystem;
  readonly cache: ResultsCache;
  /** The directories of all networks of the node. */
  readonly #directories: readonly NetworkDirectory[];
  readonly #ofAll = new Map<readonly NodeReservation[], readonly KnownReservation[]>();
  readonly #recorded = new Map<NetworkDirectory, ReservationStates>();
  readonly #reclaimable = new Map<NetworkDirectory, ReadonlySet<string> | undefined>();
  /** The addresses of the namespaces linked with the node's, as they are when they are first asked for. */
  readonly linked: LinkedAddresses;
  readonly #ids = new Map<Namespace, number | "none" | "unseen">();
  readonly #inUse = new Map<NetworkDirectory, readonly UsedAddress[]>();
  #view: View | undefined;
  #namespaces: AddressesInUse | undefined;
  /** What became of namespaces, by records and by paths. */
  readonly states: NamespaceStates;
  #containers: ReadonlyMap<Namespace, readonly string[]> | undefined;
  #byContainer: ReadonlyMap<string, readonly Namespace[]> | undefined;
  #nodeIds: ReadonlySet<string> | undefined;
  #nodeAddresses: ReadonlySet<string> | undefined;
  #ofContainers: ReadonlySet<string> | undefined;
  #containersBeforeBoot: ReadonlySet<string> | undefined;
  #candidate: { readonly text: string | undefined } | undefined;
  #stranger: { readonly text: string | undefined } | undefined;
  readonly #open: OpenNamespaces;
  readonly #isElsewhere: boolean;

  constructor(
    system: OperatorSystem,
    cache: ResultsCache,
    directories: readonly NetworkDirectory[],
  ) {
    this.#system = system;
    this.cache = cache;
    this.#directories = directories;
    this.#isElsewhere = isOutsideNode(system);
    this.linked = new LinkedAddresses(system, undefined, !this.#isElsewhere);
    this.#open = new OpenNamespaces(system);
    this.states = new NamespaceStates(system, () => this.#viewNow());
  }

  livenessOf(reservation: NodeReservation): Conclusion {
    return conclude(new ReservationEvidence(this, reservation));
  }

  /**
   * The liveness of many reservations, in their order. What shows that a container is alive counts for all that it holds:
   * its namespace may have an address of one family only.
   */
  livenessOfAll(reservations: readonly NodeReservation[]): readonly KnownReservation[] {
    const known = this.#ofAll.get(reservations);
    if (known !== undefined) return known;
    const alive = new Map<string, Conclusion>();
    const own = reservations.map((reservation) => {
      const conclusion = this.livenessOf(reservation);
      if (conclusion.liveness === "alive") alive.set(containerOf(reservation.owner), conclusion);
      return { reservation, conclusion, isBeforeBoot: reservation.isBeforeBoot };
    });
    alive.delete("");
    const ofAlive = (one: KnownReservation): KnownReservation => {
      if (one.conclusion.liveness === "alive") return one;
      const conclusion = alive.get(containerOf(one.reservation.owner));
      return conclusion === undefined ? one : { ...one, conclusion };
    };
    const all = alive.size === 0 ? own : own.map(ofAlive);
    this.#ofAll.set(reservations, all);
    return all;
  }

  /** Whether the container of an attachment of the cache is alive, whether or not anything is reserved for it. */
  livenessOfAttachment(attachment: Named): Conclusion {
    const stranger = (): string | undefined => this.stranger();
    return conclude({
      namespaces: attachment.addresses.flatMap((one) => this.namespacesWith(one)),
      isItsOwn: true,
      isLinked: attachment.addresses.some((one) => this.namespaces.isLinked(one)),
      isOfNode: false,
      recorded: undefined,
      named: this.named([attachment]),
      get stranger() {
        return stranger();
      },
      cacheError: undefined,
      isBeforeBoot: false,
      isJustReserved: false,
      candidate: "libcni's cache knows it",
    });
  }

  /** The namespaces in which an address is configured, in its canonical form; those of processes first. */
  namespacesWith(address: string): readonly Namespace[] {
    return this.namespaces.withAddress(address);
  }

  /** The network namespaces of the node. */
  get namespaces(): AddressesInUse {
    this.#namespaces ??= new AddressesInUse(this.#system, this.#viewNow(), this.linked);
    return this.#namespaces;
  }

  /** What is seen of the node: looked at once, so that all is judged by the same moment. */
  #viewNow(): View {
    this.#view ??= lookAround(this.#system);
    return this.#view;
  }

  /** The containers that hold an address of a namespace which has that of a reservation, or of its container. */
  containersBeside(reservation: NodeReservation): readonly string[] {
    return this.namespacesFor(reservation).flatMap((one) => this.#containersIn().get(one) ?? []);
  }

  /** The namespaces that have the address of a reservation or, where none has, another one that its container holds. */
  namespacesFor({ text, owner }: NodeReservation): readonly Namespace[] {
    const here = this.namespacesOfOthers(text);
    if (here.length > 0) return here;
    return this.#withoutNode(this.#namespacesOf().get(containerOf(owner)) ?? NONE);
  }

  /** The namespaces in which an address is configured, in its canonical form, without the node's. */
  namespacesOfOthers(address: string): readonly Namespace[] {
    return this.#withoutNode(this.namespacesWith(address));
  }

  /**
   * The namespaces of this node's containers that have an address, given in its canonical form: those that are linked with the
   * node's, or are known by libcni's cache or by what was recorded of them. A runtime inside a container has namespaces of its
   * own, by right with the same addresses. Where nothing but the kernel's answer shows one, it is by its id alone.
   */
  containersWith(address: string): readonly (Namespace | number)[] {
    const linked = new Set<number>();
    for (const one of this.linked.all().get(address) ?? []) if (one !== "node") linked.add(one);
    let unseen = 0;
    const seen = this.namespacesOfOthers(address).filter((namespace) => {
      const id = this.#linkedIdOf(namespace);
      if (id === "unseen") unseen++;
      else if (id !== "none") linked.delete(id);
      const isKnown = namespace.id !== undefined && this.containerNamespaces().has(namespace.id);
      return isKnown || typeof id === "number";
    });
    // One of which the id is not seen may be one of those.
    return [...seen, ...[...linked].slice(unseen)];
  }

  #linkedIdOf(namespace: Namespace): number | "none" | "unseen" {
    if (this.#isElsewhere) return "none";
    const known = this.#ids.get(namespace);
    if (known !== undefined) return known;
    const ask = (): number | "none" => this.#system.namespaceId(namespace.reachedAt) ?? "none";
    const id = attempt(ask, "unseen");
    this.#ids.set(namespace, id);
    return id;
  }

  /**
   * The addresses of a network's ranges that are in use, with those who use them: no ADD gets one, whether it is reserved or
   * not.
   */
  inUseIn(directory: NetworkDirectory): readonly UsedAddress[] {
    const known = this.#inUse.get(directory);
    if (known !== undefined) return known;
    const used = this.useIn(directory.files).inSets(directory.rangeSets);
    const found = [...used].map(([address, user]) => {
      return { address, name: formatAddress(address), user };
    });
    this.#inUse.set(directory, found);
    return found;
  }

  /** What uses the addresses of a network. */
  useIn(files: NetworkFiles): AddressUse {
    return new AddressUse(files, { linked: this.linked, inUse: () => this.namespaces });
  }

  /** The addresses of a subnet, but for a part of it, that others than the node have, in their canonical form. */
  othersIn(subnet: AddressRange, but: AddressRange | undefined): readonly string[] {
    return [...this.linked.all().keys()].filter((text) => {
      const address = parseAddress(text);
      if (address === undefined || !isWithin(address, subnet)) return false;
      return !(but && isWithin(address, but)) && this.namespaces.isLinked(text);
    });
  }

  #withoutNode(namespaces: readonly Namespace[]): readonly Namespace[] {
    if (namespaces.length === 0 || this.#nodeIdsNow().size === 0) return namespaces;
    return namespaces.filter(({ id }) => id === undefined || !this.#nodeIdsNow().has(id));
  }

  /** The addresses of the node itself, in their canonical form, as far as they are seen; loopback ones among them. */
  nodeAddresses(): ReadonlySet<string> {
    if (this.#nodeAddresses === undefined) {
      const { nodeAddresses } = this.namespaces;
      const own = [...this.#nodeIdsNow()].flatMap((id) => this.namespaces.withId(id) ?? []);
      this.#nodeAddresses =
        own.length === 0
          ? nodeAddresses
          : new Set([...nodeAddresses, ...own.flatMap(({ addresses }) => [...addresses])]);
    }
    return this.#nodeAddresses;
  }

  /**
   * The namespaces of the node that are not known as such by its processes: in a PID namespace of its own, as inside a container
   * with a runtime, the node is where the first process and this one are, unless that is known as a container's.
   */
  #nodeIdsNow(): ReadonlySet<string> {
    if (this.#nodeIds === undefined) {
      const own = seesHostProcesses(this.#system) ? [] : [...this.#ownNamespaces()];
      const isContainers = (id: string): boolean => this.containerNamespaces().has(id);
      this.#nodeIds = new Set(own.filter((id) => !isContainers(id)));
    }
    return this.#nodeIds;
  }

  /** The namespaces that are known as those of this node's containers, by libcni's cache or by what was recorded of them. */
  containerNamespaces(): ReadonlySet<string> {
    this.#ofContainers ??= new Set([...this.#namedIds(), ...this.#recordedIds()]);
    return this.#ofContainers;
  }

  /** The living namespaces for which something was reserved. */
  #recordedIds(): readonly string[] {
    return this.#directories.flatMap(({ reservations }) =>
      reservations.flatMap((one) => this.recordedOf(one)?.livingId ?? []),
    );
  }

  /** Whether this process is in the network namespace of the node, as far as that is seen. */
  isInNode(): boolean {
    const own = namespaceOf(this.#system, "self");
    if (own === undefined) return false;
    if (seesHostProcesses(this.#system)) return own === nodeNamespaceOf(this.#system);
    return own === namespaceOf(this.#system, "1") && !this.containerNamespaces().has(own);
  }

  /** The namespaces of the first process and of this one, as the kernel names them. */
  #ownNamespaces(): ReadonlySet<string> {
    return new Set(["self", "1"].flatMap((process) => namespaceOf(this.#system, process) ?? []));
  }

  /**
   * The names of the reservations that an ADD takes where no other address is free: those of dead pods and those from before
   * this boot.
   *
   * @returns `undefined` where that cannot be read
   */
  reclaimableIn(directory: NetworkDirectory): ReadonlySet<string> | undefined {
    if (!this.#reclaimable.has(directory)) {
      this.#reclaimable.set(directory, this.#findReclaimable(directory));
    }
    return this.#reclaimable.get(directory);
  }

  #findReclaimable(directory: NetworkDirectory): ReadonlySet<string> | undefined {
    const recorded = this.#reservationStates(directory);
    // Where its directory may not be searched, the plugin takes the journal for none.
    if (recorded.isUnread || journalFault(directory.files) !== undefined) return undefined;
    const use = this.useIn(directory.files);
    const ofDead = [...recorded.reclaimable((name) => name, use)].map(({ wanted }) => wanted);
    const before = [...directory.namesBeforeBoot].filter((name) => {
      const address = parseAddress(name);
      return address !== undefined && use.whyKept(address) === undefined;
    });
    return new Set([...ofDead, ...before]);
  }

  #reservationStates(network: NetworkDirectory): ReservationStates {
    let recorded = this.#recorded.get(network);
    if (recorded === undefined) {
      // Namespaces are recorded of the running boot: nothing is read for those from before it.
      recorded = reservationStates(network.files, this.states, () => []);
      this.#recorded.set(network, recorded);
    }
    return recorded;
  }

  /** What became of the namespace for which a reservation was made, by the journal. */
  recordedOf({ network, name, owner, status }: NodeReservation): RecordedNamespace | undefined {
    if (status === undefined) return undefined;
    const found = this.#reservationStates(network).find(name, (record) =>
      isOfRecord(record, status, owner),
    );
    if (found === undefined) return undefined;
    const { state, namespace } = found;
    if (namespace === undefined) {
      return { ...state, isPodSandbox: false, hasProcess: false, isUnread: true };
    }
    const { inode, isPodSandbox } = namespace;
    const about = { isPodSandbox, isUnread: false } as const;
    if (state.kind !== "alive") return { ...state, ...about, hasProcess: false };
    const livingId = nameOf(inode);
    const seen = this.namespaces.withId(livingId);
    const hasProcess = seen?.processId !== undefined;
    if (state.hasLeft !== true) return { ...state, ...about, hasProcess, livingId };
    const reason = `${state.reason}: ${this.#holderOf(livingId, seen)}`;
    const isOnlyOpen = seen === undefined && this.#viewNow().incomplete === undefined;
    return { ...state, ...about, reason, hasProcess, livingId, isOnlyOpen };
  }

  /** Who has a namespace that is not where it was, in a clause. */
  #holderOf(id: string, seen: Namespace | undefined): string {
    if (seen?.processId !== undefined) return `process ${seen.processId} runs there`;
    if (seen !== undefined) return `it is mounted at ${seen.path}`;
    const holder = this.#open.holderOf(id);
    return holder === undefined ? "who holds it is not seen" : `${holder} has it open`;
  }

  /** Whether the ADD of a reservation may be under way. */
  isJustReserved({ since }: NodeReservation): boolean {
    return since === undefined || isYoung(since, this.#system.now(), LONGEST_ADD);
  }

  /** Why a reservation need not be dead although no namespace has an address of its container. */
  candidateFor(reservation: NodeReservation): string | undefined {
    return this.#doubtOn(reservation) ?? this.#anyCandidate();
  }

  /** Why no namespace of this node need have the address of a reservation. */
  #doubtOn(reservation: NodeReservation): string | undefined {
    const { network, owner } = reservation;
    if (this.isJustReserved(reservation)) return "it was reserved only just now";
    if (network.isShared) return "other machines may use its directory";
    if (owner.kind === "legacy") return "it names no interface, as what administrators reserve";
    if (network.networks.some(({ reclaims }) => !reclaims)) {
      return 'with "reclaim": "never" it need not be a container\'s';
    }
    return undefined;
  }

  /** What became of the namespaces that attachments name; none where libcni before 1.3 wrote the entry. */
  named(attachments: readonly Named[]): readonly NamedNamespace[] {
    const found: NamedNamespace[] = [];
    for (const one of attachments) if (one.networkNamespace !== "") found.push(this.#named(one));
    return found;
  }

  #named(attachment: Named): NamedNamespace {
    const { networkNamespace: path } = attachment;
    const state = this.states.at(path);
    if (state.kind === "gone") return { kind: "gone", path };
    if (state.kind !== "exists") {
      const reason = `whether its network namespace ${path} exists cannot be seen from here`;
      return { kind: "unseen", reason };
    }
    const found = this.namespaces.withId(state.id);
    const processId = processIn(path);
    if (processId !== undefined && hasOthers(found, attachment.addresses)) {
      const reason = `process ${processId}, whose network namespace it had, now has other addresses`;
      return { kind: "unseen", reason };
    }
    return { kind: "exists", path, hasProcess: found?.processId !== undefined };
  }

  /** The namespaces that have an address which a container holds, by container. */
  #namespacesOf(): ReadonlyMap<string, readonly Namespace[]> {
    if (this.#byContainer === undefined) {
      const byContainer = new Map<string, Namespace[]>();
      for (const [namespace, containers] of this.#containersIn()) {
        for (const container of containers) {
          const known = byContainer.get(container);
          if (known === undefined) byContainer.set(container, [namespace]);
          else known.push(namespace);
        }
      }
      this.#byContainer = byContainer;
    }
    return this.#byContainer;
  }

  /** The containers that hold the addresses of each namespace. */
  #containersIn(): ReadonlyMap<Namespace, readonly string[]> {
    this.#containers ??= new Map(
      this.namespaces.all.map((namespace) => {
        const addresses = [...namespace.addresses].filter((one) => !isLocal(one));
        const containers = addresses.flatMap((address) =>
          this.#directories.flatMap((directory) => directory.ownersAt(address).map(containerOf)),
        );
        return [namespace, containers.filter((one) => one !== "")];
      }),
    );
    return this.#containers;
  }

  /** Which namespace may be that of a container although it has none of its addresses. */
  #anyCandidate(): string | undefined {
    this.#candidate ??= {
      text: this.namespaces.incomplete ?? this.#whyUnlinked() ?? this.#unaccounted(),
    };
    return this.#candidate.text;
  }

  /** A namespace that has an interface, and of which it is not known whose it is. */
  #unaccounted(): string | undefined {
    const [stranger] = this.#strangers();
    return stranger && `the network namespace ${stranger.path} belongs to no known container`;
  }

  /** The namespaces that have an interface, and of which neither an address nor libcni's cache tells whose they are. */
  #strangers(): readonly Namespace[] {
    const unnamed = [...this.#containersIn()]
      .filter(([namespace, containers]) => containers.length === 0 && namespace.hasInterface())
      .map(([namespace]) => namespace);
    const named = unnamed.length === 0 ? new Set<string>() : this.#namedIds();
    return unnamed.filter(({ id }) => id === undefined || !named.has(id));
  }

  /**
   * Why a namespace that libcni's cache names as gone may live: a process may have left its own, or a mount been removed, while
   * another process runs there.
   */
  stranger(): string | undefined {
    this.#stranger ??= {
      text: this.#whyUnseen() ?? this.#whyUnlinked() ?? this.#firstStranger(),
    };
    return this.#stranger.text;
  }

  /**
   * Why some process of the containers is not seen. In a PID namespace of its own, as of a node that is a container, those of its
   * runtime are seen, though not the node's.
   */
  #whyUnseen(): string | undefined {
    return seesHostProcesses(this.#system) ? this.#viewNow().incomplete : undefined;
  }

  /** Why namespaces are not seen that are linked with the node's, and that nothing but a descriptor may hold. */
  #whyUnlinked(): string | undefined {
    return this.#isElsewhere ? UNLINKED : undefined;
  }

  #firstStranger(): string | undefined {
    const [stranger] = this.strangersWithProcess();
    return (
      stranger &&
      `process ${stranger.processId} runs in a network namespace that belongs to no known container`
    );
  }

  /**
   * The network namespaces in which processes run, and of which nothing tells whose they are: each may be that of a container
   * whose address the node's kernel never has, as that of a virtual machine.
   */
  strangersWithProcess(): readonly Namespace[] {
    const running = this.#strangers().filter(({ processId }) => processId !== undefined);
    if (running.length === 0) return running;
    // Where the node's processes are not seen, its own namespace is not known as such, but this one and the first one are.
    const known = new Set([...this.#ownNamespaces(), ...this.#recordedIds()]);
    return running.filter(({ id }) => id === undefined || !known.has(id));
  }

  /** The containers of which it is known where they live, or that they are dead. */
  accountedContainers(): ReadonlySet<string> {
    const accounted = new Set<string>();
    for (const { reservations } of this.#directories) {
      for (const { reservation, conclusion } of this.livenessOfAll(reservations)) {
        if (conclusion.liveness !== "unknown") accounted.add(containerOf(reservation.owner));
      }
    }
    for (const { containerId, networkNamespace } of this.#attachmentsOfBoot()) {
      if (networkNamespace !== "" && this.states.at(networkNamespace).kind !== "unseen") {
        accounted.add(containerId);
      }
    }
    accounted.delete("");
    return accounted;
  }

  /**
   * What libcni's cache knows, without what it knows from before this boot: the namespace that it had is gone, and what is at its
   * path is another's.
   */
  #attachmentsOfBoot(): readonly CachedAttachment[] {
    const before = this.#beforeBoot();
    const { attachments } = this.cache;
    if (before.size === 0) return attachments;
    return attachments.filter(({ containerId }) => !before.has(containerId));
  }

  /** The containers of which all that they hold is from before this boot. */
  #beforeBoot(): ReadonlySet<string> {
    this.#containersBeforeBoot ??= this.#findBeforeBoot();
    return this.#containersBeforeBoot;
  }

  #findBeforeBoot(): ReadonlySet<string> {
    const names = new Set<string>();
    if (this.#directories.every(({ namesBeforeBoot }) => namesBeforeBoot.size === 0)) return names;
    const all = this.#directories.flatMap(({ reservations }) => reservations);
    for (const one of all) if (one.isBeforeBoot) names.add(containerOf(one.owner));
    for (const one of all) if (!one.isBeforeBoot) names.delete(containerOf(one.owner));
    return names;
  }

  /** The ids of the namespaces that libcni's cache names; the id of a process may be that of another by now. */
  #namedIds(): ReadonlySet<string> {
    return new Set(
      this.#attachmentsOfBoot().flatMap(({ networkNamespace, addresses }) => {
        const state = this.states.at(networkNamespace);
        if (state.kind !== "exists") return [];
        const found = this.namespaces.withId(state.id);
        const isCertain =
          !networkNamespace.startsWith("/proc/") ||
          addresses.some((address) => found?.addresses.has(address) === true);
        return isCertain ? state.id : [];
      }),
    );
  }
}

/** What shows whether the container of a reservation is alive, each part looked at when it is asked for. */
class ReservationEvidence implements Evidence {
  readonly #checker: LivenessChecker;
  readonly #reservation: NodeReservation;

  constructor(checker: LivenessChecker, reservation: NodeReservation) {
    this.#checker = checker;
    this.#reservation = reservation;
  }

  get namespaces(): readonly Namespace[] {
    return this.#checker.namespacesFor(this.#reservation);
  }

  get isItsOwn(): boolean {
    return this.#checker.namespacesOfOthers(this.#reservation.text).length > 0;
  }

  get isLinked(): boolean {
    return this.#checker.namespaces.isLinked(this.#reservation.text);
  }

  get isOfNode(): boolean {
    return this.#checker.nodeAddresses().has(this.#reservation.text);
  }

  get recorded(): RecordedNamespace | undefined {
    return this.#checker.recordedOf(this.#reservation);
  }

  get named(): readonly NamedNamespace[] {
    return this.#checker.named(this.#checker.cache.attachmentsOf(this.#reservation));
  }

  get stranger(): string | undefined {
    return this.#checker.stranger();
  }

  get cacheError(): string | undefined {
    return this.#checker.cache.unreadableOf(this.#reservation)?.message;
  }

  get isBeforeBoot(): boolean {
    return this.#reservation.isBeforeBoot;
  }

  get isJustReserved(): boolean {
    return this.#checker.isJustReserved(this.#reservation);
  }

  get candidate(): string | undefined {
    return this.#checker.candidateFor(this.#reservation);
  }
}

/** An interface that is down has no address there, so this does not show that a container is dead. */
function hasOthers(found: Namespace | undefined, addresses: readonly string[]): boolean {
  return (
    found !== undefined &&
    addresses.length > 0 &&
    !addresses.some((address) => found.addresses.has(address))
  );
}
