/** Who is alive on the node: what `conclude` says of every reservation, by what was read of the node. */

import {
  type Conclusion,
  conclude,
  type Evidence,
  type Fate,
  type NamedNamespace,
} from "../../store/life/conclusion.ts";
import type { Namespace } from "../../store/namespaces/addresses-in-use.ts";
import { processIn } from "../../store/namespaces/namespace-state.ts";
import { isYoung } from "../../store/reservations/age.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { Known } from "../alive/cache/results-cache.ts";
import type { LifeFacts } from "../facts/life-facts.ts";
import type { NetworkDirectory, NodeReservation } from "../held/network-directory.ts";
import { once } from "../once.ts";
import { Places } from "./places.ts";
import { Whose } from "./whose.ts";

/** How long an ADD may be under way that has not yet configured the address it reserved, in milliseconds. */
const LONGEST_ADD = 2 * 60_000;

/** The members of an attachment in libcni's cache that show whether it is alive. */
type Named = Pick<CachedAttachment, "networkNamespace" | "addresses">;

/** A reservation, and what is known of its container. */
export interface KnownReservation {
  readonly reservation: NodeReservation;
  readonly conclusion: Conclusion;
}

/** Judges by what was read, each question once. */
export class Lives {
  readonly #facts: LifeFacts;
  /** Whose the network namespaces are. */
  readonly whose: Whose;
  /** Who has an address. */
  readonly places: Places;

  constructor(facts: LifeFacts) {
    this.#facts = facts;
    this.whose = new Whose(facts);
    this.places = new Places(facts, this.whose);
  }

  /** The liveness of the reservations of a network, by all that their containers hold, in whatever network. */
  livenessIn(directory: NetworkDirectory): readonly KnownReservation[] {
    return this.#byNetwork().get(directory) ?? [];
  }

  readonly #all = once(() =>
    this.livenessOf(this.#facts.held.flatMap(({ reservations }) => reservations)),
  );

  readonly #byNetwork = once(() =>
    Map.groupBy(this.#all(), ({ reservation }) => reservation.network),
  );

  /**
   * The liveness of some reservations, in their order. What shows that a container is alive counts for all that it holds: its
   * namespace may have an address of one family only, and libcni's cache an entry for one of its interfaces.
   */
  livenessOf(reservations: readonly NodeReservation[]): readonly KnownReservation[] {
    const alive = new Map<string, Conclusion>();
    const own = reservations.map((reservation): KnownReservation => {
      const conclusion = conclude(new ReservationEvidence(this.#facts, this.whose, reservation));
      const isIts = conclusion.liveness === "alive" && conclusion.by !== "address";
      if (isIts) alive.set(containerOf(reservation.owner), conclusion);
      return { reservation, conclusion };
    });
    alive.delete("");
    if (alive.size === 0) return own;
    return own.map((known) => {
      if (known.conclusion.liveness === "alive") return known;
      const conclusion = alive.get(containerOf(known.reservation.owner));
      return conclusion === undefined ? known : { ...known, conclusion };
    });
  }

  /** Whether the container of an attachment of the cache is alive, whether or not anything is reserved for it. */
  livenessOfAttachment(attachment: Named): Conclusion {
    const { whose } = this;
    const namespaces = this.#facts.namespaces();
    return conclude({
      namespaces: attachment.addresses.flatMap((address) => namespaces.withAddress(address)),
      isItsOwn: true,
      isLinked: attachment.addresses.some((address) => namespaces.isLinked(address)),
      isOfNode: false,
      fate: undefined,
      isRunning: false,
      isOnlyOpen: false,
      named: namedBy(this.#facts, [attachment]),
      get stranger() {
        return whose.stranger();
      },
      cacheError: undefined,
      isJustReserved: false,
      candidate: "libcni's cache knows it",
    });
  }

  /** The containers of which it is known where they live, or that they are dead. */
  accountedContainers(): ReadonlySet<string> {
    const accounted = new Set<string>();
    for (const { reservation, conclusion } of this.#all()) {
      if (conclusion.liveness !== "unknown") accounted.add(containerOf(reservation.owner));
    }
    for (const { containerId, networkNamespace } of this.whose.known().attachments) {
      if (networkNamespace !== "" && this.#facts.at(networkNamespace).kind !== "unseen") {
        accounted.add(containerId);
      }
    }
    accounted.delete("");
    return accounted;
  }
}

/** What shows whether the container of a reservation is alive, each part looked at when it is asked for. */
class ReservationEvidence implements Evidence {
  readonly #facts: LifeFacts;
  readonly #whose: Whose;
  readonly #reservation: NodeReservation;
  #ofCache: Known | undefined;
  readonly fate: Fate | undefined;

  constructor(facts: LifeFacts, whose: Whose, reservation: NodeReservation) {
    this.#facts = facts;
    this.#whose = whose;
    this.#reservation = reservation;
    this.fate = facts.fateOf(reservation);
  }

  get namespaces(): readonly Namespace[] {
    return this.#whose.for(this.#reservation);
  }

  get isItsOwn(): boolean {
    return this.#whose.with(this.#reservation.text).length > 0;
  }

  get isLinked(): boolean {
    return this.#facts.namespaces().isLinked(this.#reservation.text);
  }

  get isOfNode(): boolean {
    return this.#whose.nodeAddresses().has(this.#reservation.text);
  }

  get isRunning(): boolean {
    return this.#seen?.processId !== undefined;
  }

  get isOnlyOpen(): boolean {
    const hasLeft = this.fate?.kind === "alive" && this.fate.hasLeft;
    return hasLeft && this.#seen === undefined && this.#facts.whyUnseen() === undefined;
  }

  /** The namespace that is recorded, if a process or a mount shows it. */
  get #seen(): Namespace | undefined {
    return this.fate?.kind === "alive"
      ? this.#facts.namespaces().withId(this.fate.namespace)
      : undefined;
  }

  get #known(): Known {
    this.#ofCache ??= this.#facts.cache.knownOf(this.#reservation);
    return this.#ofCache;
  }

  get named(): readonly NamedNamespace[] {
    return namedBy(this.#facts, this.#known.attachments);
  }

  get stranger(): string | undefined {
    return this.#whose.stranger();
  }

  get cacheError(): string | undefined {
    return this.#known.unreadable?.message;
  }

  get isJustReserved(): boolean {
    const { since } = this.#reservation;
    return since === undefined || isYoung(since, this.#facts.now(), LONGEST_ADD);
  }

  get candidate(): string | undefined {
    const { network, owner } = this.#reservation;
    if (this.isJustReserved) return "it was reserved only just now";
    if (network.isShared) return "other machines may use its directory";
    if (owner.kind === "legacy") return "it names no interface, as what administrators reserve";
    if (network.networks.some(({ reclaims }) => !reclaims)) {
      return 'with "reclaim": "never" it need not be a container\'s';
    }
    return this.#whose.candidate();
  }
}

/** What became of the namespaces that attachments name; none where libcni before 1.3 wrote the entry. */
function namedBy(facts: LifeFacts, attachments: readonly Named[]): readonly NamedNamespace[] {
  const found: NamedNamespace[] = [];
  for (const attachment of attachments)
    if (attachment.networkNamespace !== "") found.push(named(facts, attachment));
  return found;
}

function named(facts: LifeFacts, attachment: Named): NamedNamespace {
  const { networkNamespace: path } = attachment;
  const state = facts.at(path);
  if (state.kind === "gone") return { kind: "gone", path };
  if (state.kind !== "exists") {
    const reason = `whether its network namespace ${path} exists cannot be seen from here`;
    return { kind: "unseen", reason };
  }
  const found = facts.namespaces().withId(state.id);
  const processId = processIn(path);
  if (processId !== undefined && hasOthers(found, attachment.addresses)) {
    const reason = `process ${processId}, whose network namespace it had, now has other addresses`;
    return { kind: "unseen", reason };
  }
  return { kind: "exists", path, hasProcess: found?.processId !== undefined };
}

/** An interface that is down has no address there, so this does not show that a container is dead. */
function hasOthers(found: Namespace | undefined, addresses: readonly string[]): boolean {
  return (
    found !== undefined &&
    addresses.length > 0 &&
    !addresses.some((address) => found.addresses.has(address))
  );
}
