/** Whose the network namespaces of the node are: the node's, a known container's, or nobody knows. */

import { isLocal } from "../../store/namespaces/addresses.ts";
import type { Namespace } from "../../store/namespaces/addresses-in-use.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { Known } from "../alive/cache/results-cache.ts";
import type { LifeFacts } from "../facts/life-facts.ts";
import type { NodeReservation } from "../held/network-directory.ts";
import { once } from "../once.ts";

const NONE: readonly Namespace[] = [];

const UNLINKED = "what is linked with the network namespace of the node is not seen from this one";

/** What the journals tell of the network namespaces and the containers. */
interface Recorded {
  /** A reservation for each namespace that lives, by the namespace as the kernel names it. */
  readonly living: ReadonlyMap<string, NodeReservation>;
  /** The containers of which all that they hold is of the dead. */
  readonly dead: ReadonlySet<string>;
}

/** Judges by what was read, each question once. */
export class Whose {
  readonly #facts: LifeFacts;

  constructor(facts: LifeFacts) {
    this.#facts = facts;
  }

  /** The containers that hold the addresses of each namespace. */
  readonly #containers = once(() => {
    const { namespaces, held } = this.#facts;
    const ownersAt = (address: string): readonly string[] =>
      held.flatMap((network) => network.heldAt(address).map(({ owner }) => containerOf(owner)));
    return new Map(
      namespaces().all.map((namespace) => {
        const addresses = [...namespace.addresses].filter((address) => !isLocal(address));
        return [namespace, addresses.flatMap(ownersAt).filter((id) => id !== "")];
      }),
    );
  });

  /** The same the other way round. */
  readonly #namespaces = once(() => {
    const byContainer = new Map<string, Namespace[]>();
    for (const [namespace, containers] of this.#containers()) {
      for (const containerId of containers) {
        const known = byContainer.get(containerId);
        if (known === undefined) byContainer.set(containerId, [namespace]);
        else known.push(namespace);
      }
    }
    return byContainer;
  });

  /** What the journals of all networks tell. */
  readonly recorded = once((): Recorded => {
    const living = new Map<string, NodeReservation>();
    const dead = new Set<string>();
    const others: NodeReservation[] = [];
    for (const { reservations } of this.#facts.held) {
      for (const reservation of reservations) {
        const fate = this.#facts.fateOf(reservation);
        if (fate?.kind === "alive") living.set(fate.namespace, reservation);
        if (fate?.kind === "dead") dead.add(containerOf(reservation.owner));
        else others.push(reservation);
      }
    }
    if (dead.size > 0) for (const { owner } of others) dead.delete(containerOf(owner));
    return { living, dead };
  });

  /**
   * What libcni's cache knows, without the containers that are dead by the journals: their namespaces are gone, and another's
   * may be at the path.
   */
  readonly known = once((): Known => {
    const { cache, held } = this.#facts;
    const isDead = (containerId: string): boolean => this.recorded().dead.has(containerId);
    const ofDead = (): readonly NodeReservation[] =>
      held.flatMap((network) =>
        network.reservations.filter(({ owner }) => isDead(containerOf(owner))),
      );
    const { attachments, unreadable } = cache.knownBut(ofDead);
    return {
      attachments: attachments.filter((attachment) => !isDead(attachment.containerId)),
      unreadable,
    };
  });

  /** The ids of the namespaces that libcni's cache names; the id of a process may be that of another by now. */
  readonly #named = once((): ReadonlySet<string> => {
    const ids = this.known().attachments.flatMap(({ networkNamespace, addresses }) => {
      const state = this.#facts.at(networkNamespace);
      if (state.kind !== "exists") return [];
      const found = this.#facts.namespaces().withId(state.id);
      const isCertain =
        !networkNamespace.startsWith("/proc/") ||
        addresses.some((address) => found?.addresses.has(address) === true);
      return isCertain ? state.id : [];
    });
    return new Set(ids);
  });

  /** The ids of the namespaces that libcni's cache or a journal assigns to this node's containers. */
  readonly ofContainers = once(
    (): ReadonlySet<string> => new Set([...this.#named(), ...this.recorded().living.keys()]),
  );

  /**
   * The ids of the node's namespaces that its processes do not show. In a PID namespace of its own, as inside a container with
   * a runtime, the node is where the first process and this one are, unless that is known as a container's.
   */
  readonly #ofNode = once((): ReadonlySet<string> => {
    const here = this.#facts.standpoint().seesNode ? [] : this.#here();
    return new Set(here.filter((id) => !this.ofContainers().has(id)));
  });

  /** The namespaces of the first process and of this one. */
  #here(): readonly string[] {
    const { ofFirstProcess, own } = this.#facts.standpoint();
    return [own ?? [], ofFirstProcess ?? []].flat();
  }

  /** Whether this process is in the network namespace of the node, as far as that is seen. */
  isInNode(): boolean {
    const { seesNode, ofNode, ofFirstProcess, own } = this.#facts.standpoint();
    if (own === undefined) return false;
    return seesNode ? own === ofNode : own === ofFirstProcess && !this.ofContainers().has(own);
  }

  /** The addresses of the node itself, in their canonical form, as far as they are seen; loopback ones among them. */
  readonly nodeAddresses = once((): ReadonlySet<string> => {
    const namespaces = this.#facts.namespaces();
    const own = [...this.#ofNode()].flatMap((id) => namespaces.withId(id) ?? []);
    if (own.length === 0) return namespaces.nodeAddresses;
    return new Set([
      ...namespaces.nodeAddresses,
      ...own.flatMap((namespace) => [...namespace.addresses]),
    ]);
  });

  /** The namespaces in which an address is configured, in its canonical form, without the node's; those of processes first. */
  with(address: string): readonly Namespace[] {
    return this.#withoutNode(this.#facts.namespaces().withAddress(address));
  }

  /** The namespaces that have the address of a reservation or, where none has, another one that its container holds. */
  for({ text, owner }: NodeReservation): readonly Namespace[] {
    const here = this.with(text);
    if (here.length > 0) return here;
    return this.#withoutNode(this.#namespaces().get(containerOf(owner)) ?? NONE);
  }

  #withoutNode(namespaces: readonly Namespace[]): readonly Namespace[] {
    if (namespaces.length === 0 || this.#ofNode().size === 0) return namespaces;
    return namespaces.filter(({ id }) => id === undefined || !this.#ofNode().has(id));
  }

  /** The containers that hold an address of a namespace which has that of a reservation, or of its container. */
  containersBeside(reservation: NodeReservation): readonly string[] {
    return this.for(reservation).flatMap((namespace) => this.#containers().get(namespace) ?? []);
  }

  /** The namespaces that have an interface, and of which neither an address nor libcni's cache tells whose they are. */
  readonly #strangers = once((): readonly Namespace[] => {
    const unheld = [...this.#containers()]
      .filter(([namespace, containers]) => containers.length === 0 && namespace.hasInterface())
      .map(([namespace]) => namespace);
    return unheld.filter(({ id }) => id === undefined || !this.#named().has(id));
  });

  /**
   * The network namespaces in which processes run, and of which nothing tells whose they are: each may be that of a container
   * whose address the node's kernel never has, as that of a virtual machine.
   */
  strangersWithProcess(): readonly Namespace[] {
    const running = this.#strangers().filter(({ processId }) => processId !== undefined);
    if (running.length === 0) return running;
    // If the node's processes are not seen, its namespace is not known as such, but this process's and the first one's are.
    const known = new Set([...this.#here(), ...this.recorded().living.keys()]);
    return running.filter(({ id }) => id === undefined || !known.has(id));
  }

  /** Which namespace may be that of a container although it has none of its addresses. */
  readonly candidate = once((): string | undefined => {
    const why = this.#facts.namespaces().incomplete ?? this.#whyUnlinked();
    if (why !== undefined) return why;
    const [stranger] = this.#strangers();
    return stranger && `the network namespace ${stranger.path} belongs to no known container`;
  });

  /**
   * Why a namespace that libcni's cache names, and that is gone from there, may live: a process may have left it, or a mount
   * been removed, while another process runs there. In a PID namespace of its own, as of a node that is a container, the
   * processes of its runtime are seen, though not the node's.
   */
  readonly stranger = once((): string | undefined => {
    const { seesNode } = this.#facts.standpoint();
    const why = (seesNode ? this.#facts.whyUnseen() : undefined) ?? this.#whyUnlinked();
    if (why !== undefined) return why;
    const [stranger] = this.strangersWithProcess();
    return (
      stranger &&
      `process ${stranger.processId} runs in a network namespace that belongs to no known container`
    );
  });

  /** Why namespaces are not seen that are linked with the node's, and that nothing but a descriptor may hold. */
  #whyUnlinked(): string | undefined {
    return this.#facts.standpoint().isElsewhere ? UNLINKED : undefined;
  }
}
