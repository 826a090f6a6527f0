/** Which places have an address, by the kernel, and whose they are, by the journals and libcni's cache. */

import { isLocal } from "../../store/namespaces/addresses.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { LifeFacts } from "../facts/life-facts.ts";
import { once } from "../once.ts";
import type { Whose } from "./whose.ts";

/** A place that has an address: the node itself, or a network namespace. */
export interface Place {
  /**
   * `container`: one of this node, since its namespace is linked with the node's, or known by libcni's cache or a journal. `other`: a
   * namespace of which nothing tells that; a runtime inside a container has such, by right with the same addresses.
   */
  readonly kind: "node" | "container" | "other";
  /** Which it is, such as `the network namespace /run/netns/cni-1`. */
  readonly where: string;
  /** Whether it is mounted, and no process runs there. */
  readonly isEmpty: boolean;
  /** Whose it is, by libcni's cache or a journal; `undefined` where neither tells. */
  readonly container: Pick<CachedAttachment, "containerId" | "pod"> | undefined;
  /** The attachments there with the address, by libcni's cache: one may be noted for two networks. */
  readonly attachments: readonly CachedAttachment[];
}

const UNKNOWN = { isEmpty: false, container: undefined, attachments: [] } as const;

const NODE: Place = { kind: "node", where: "the node itself", ...UNKNOWN };

/** Judges by what was read, each question once. */
export class Places {
  readonly #facts: LifeFacts;
  readonly #whose: Whose;

  constructor(facts: LifeFacts, whose: Whose) {
    this.#facts = facts;
    this.#whose = whose;
  }

  /** The attachments of libcni's cache with each address, without those whose namespace is gone. */
  readonly #attachments = once((): ReadonlyMap<string, readonly CachedAttachment[]> => {
    const byAddress = new Map<string, CachedAttachment[]>();
    for (const attachment of this.#whose.known().attachments) {
      if (this.#facts.at(attachment.networkNamespace).kind === "gone") continue;
      for (const address of attachment.addresses) {
        const known = byAddress.get(address);
        if (known === undefined) byAddress.set(address, [attachment]);
        else known.push(attachment);
      }
    }
    return byAddress;
  });

  /** The addresses that any place has, in their canonical form, but those that every namespace has. */
  readonly addresses = once((): ReadonlySet<string> => {
    const namespaces = this.#facts
      .namespaces()
      .all.flatMap((namespace) => [...namespace.addresses]);
    const all = [...namespaces, ...this.#facts.linked().keys(), ...this.#attachments().keys()];
    return new Set(all.filter((address) => !isLocal(address)));
  });

  /**
   * The places that have an address, given in its canonical form. The kernel tells them: those of processes and mounts first. Where
   * it does not, as of the address of a virtual machine, or cannot be asked, the path that libcni's cache has is the only witness.
   */
  with(address: string): readonly Place[] {
    const attachments = this.#attachments().get(address) ?? [];
    const named = this.#byNamespace(attachments);
    const linked = new Set<number>();
    for (const holder of this.#facts.linked().get(address) ?? [])
      if (holder !== "node") linked.add(holder);
    // A linked namespace may be one of those whose id is not seen.
    let unseen = 0;
    const seen = this.#whose.with(address).map((namespace): Place => {
      const linkedId = this.#facts.linkedIdOf(namespace);
      if (linkedId === "unseen") unseen++;
      else if (linkedId !== "none") linked.delete(linkedId);
      const { id, processId, path } = namespace;
      const isKnown = id !== undefined && this.#whose.ofContainers().has(id);
      const here = id === undefined ? [] : (named.get(id) ?? []);
      if (id !== undefined) named.delete(id);
      return {
        kind: isKnown || typeof linkedId === "number" ? "container" : "other",
        where: processId === undefined ? at(path) : `the network namespace of process ${processId}`,
        isEmpty: processId === undefined,
        ...this.#holderOf(id, here),
      };
    });
    const containers = new Set(seen.map(({ container }) => container?.containerId));
    const byPath = [...named].flatMap(([id, here]): Place | readonly [] => {
      const holder = this.#holderOf(id, here);
      const isElsewhere = containers.has(holder.container?.containerId);
      if (holder.attachments.length === 0 || isElsewhere) return [];
      // The id of a process that ended may be that of another one by now.
      const path = here
        .map(({ networkNamespace }) => networkNamespace)
        .find((name) => !name.startsWith("/proc/"));
      if (path === undefined) return [];
      if (this.#facts.namespaces().withId(id) === undefined) unseen++;
      return { kind: "container", where: at(path), isEmpty: false, ...holder };
    });
    const byLink = [...linked].slice(unseen).map((id): Place => {
      const where = `the network namespace with the id ${id} (ip netns list-id)`;
      return { kind: "container", where, ...UNKNOWN };
    });
    const ofNode = this.#whose.nodeAddresses().has(address) ? [NODE] : [];
    return this.#withUnseen([...ofNode, ...seen, ...byPath, ...byLink], attachments);
  }

  #byNamespace(attachments: readonly CachedAttachment[]): Map<string, readonly CachedAttachment[]> {
    const byNamespace = Map.groupBy(attachments, ({ networkNamespace }) => {
      const state = this.#facts.at(networkNamespace);
      return state.kind === "exists" ? state.id : undefined;
    });
    byNamespace.delete(undefined);
    return byNamespace as Map<string, readonly CachedAttachment[]>;
  }

  /** Whose a namespace is: the journal knows the namespace itself, libcni's cache its path. */
  #holderOf(
    id: string | undefined,
    named: readonly CachedAttachment[],
  ): Pick<Place, "container" | "attachments"> {
    const reservation = id === undefined ? undefined : this.#whose.recorded().living.get(id);
    if (reservation === undefined) return { container: named[0], attachments: named };
    const containerId = containerOf(reservation.owner);
    const pod = this.#facts.cache.podOf(reservation);
    const attachments = named.filter((attachment) => attachment.containerId === containerId);
    return { container: { containerId, pod }, attachments };
  }

  /**
   * Assigns the places of which nothing tells whose they are to the attachments that are seen nowhere, such as those that
   * libcni before 1.3 has noted, if there are as many.
   */
  #withUnseen(
    places: readonly Place[],
    attachments: readonly CachedAttachment[],
  ): readonly Place[] {
    const isUnknown = (place: Place): boolean =>
      place.kind === "container" && place.container === undefined;
    const unseen = attachments.filter(
      ({ networkNamespace }) => this.#facts.at(networkNamespace).kind === "unseen",
    );
    const containers = [...Map.groupBy(unseen, ({ containerId }) => containerId).values()];
    if (containers.length === 0 || places.filter(isUnknown).length !== containers.length) {
      return places;
    }
    return places.map((place) => {
      const own = isUnknown(place) ? containers.shift() : undefined;
      return own === undefined ? place : { ...place, container: own[0], attachments: own };
    });
  }
}

function at(path: string): string {
  return `the network namespace ${path}`;
}
