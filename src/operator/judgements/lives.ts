/** Who is alive on the node: what `conclude` says of every reservation, by what was read of the node. */

import {
  BEFORE_BOOT,
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
import type { NodeReservation } from "../held/network-directory.ts";
import { Places } from "./places.ts";
import { Whose } from "./whose.ts";

/** How long an ADD may be under way that has not yet configured the address it reserved, in milliseconds. */
const LONGEST_ADD = 2 * 60_000;

/** What of an attachment in libcni's cache shows whether it is alive. */
type Named = Pick<CachedAttachment, "networkNamespace" | "addresses">;

/** A reservation, and what is known of its container. */
export interface KnownReservation {
  readonly reservation: NodeReservation;
  readonly conclusion: Conclusion;
  /** Once something has been released, the node does not tell it any more. */
  readonly isBeforeBoot: boolean;
}

/** Judges by what was read, each question once. */
export class Lives {
  readonly #facts: LifeFacts;
  /** Whose the network namespaces are. */
  readonly whose: Whose;
  /** Who has an address. */
  readonly places: Places;
  readonly #ofAll = new Map<readonly NodeReservation[], readonly KnownReservation[]>();

  constructor(facts: LifeFacts) {
    this.#facts = facts;
    this.whose = new Whose(facts);
    this.places = new Places(facts, this.whose);
  }

  livenessOf(reservation: NodeReservation): Conclusion {
    return this.#conclude(reservation, this.#facts.fateOf(reservation));
  }

  /**
   * The liveness of many reservations, in their order. What shows that a container is alive counts for all that it holds:
   * its namespace may have an address of one family only.
   */
  livenessOfAll(reservations: readonly NodeReservation[]): readonly KnownReservation[] {
    const known = this.#ofAll.get(reservations);
    if (known !== undefined) return known;
    const alive = new Map<string, Conclusion>();
    const own = reservations.map((reservation): KnownReservation => {
      const fate = this.#facts.fateOf(reservation);
      const conclusion = this.#conclude(reservation, fate);
      if (conclusion.liveness === "alive") alive.set(containerOf(reservation.owner), conclusion);
      return { reservation, conclusion, isBeforeBoot: fate === BEFORE_BOOT };
    });
    alive.delete("");
    const ofAlive = (known: KnownReservation): KnownReservation => {
      if (known.conclusion.liveness === "alive") return known;
      const conclusion = alive.get(containerOf(known.reservation.owner));
      return conclusion === undefined ? known : { ...known, conclusion };
    };
    const all = alive.size === 0 ? own : own.map(ofAlive);
    this.#ofAll.set(reservations, all);
    return all;
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
    for (const { reservations } of this.#facts.held) {
      for (const { reservation, conclusion } of this.livenessOfAll(reservations)) {
        if (conclusion.liveness !== "unknown") accounted.add(containerOf(reservation.owner));
      }
    }
    for (const { containerId, networkNamespace } of this.whose.known().attachments) {
      if (networkNamespace !== "" && this.#facts.at(networkNamespace).kind !== "unseen") {
        accounted.add(containerId);
      }
    }
    accounted.delete("");
    return accounted;
  }

  #conclude(reservation: NodeReservation, fate: Fate | undefined): Conclusion {
    return conclude(new ReservationEvidence(this, this.#facts, reservation, fate));
  }

  /** Whether the ADD of a reservation may be under way. */
  isJustReserved({ since }: NodeReservation): boolean {
    return since === undefined || isYoung(since, this.#facts.now(), LONGEST_ADD);
  }

  /** Why a reservation need not be dead although no namespace has an address of its container. */
  candidateFor(reservation: NodeReservation): string | undefined {
    return this.#doubtOn(reservation) ?? this.whose.candidate();
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
}

/** What shows whether the container of a reservation is alive, each part looked at when it is asked for. */
class ReservationEvidence implements Evidence {
  readonly #lives: Lives;
  readonly #facts: LifeFacts;
  readonly #reservation: NodeReservation;
  #ofCache: Known | undefined;
  readonly fate: Fate | undefined;

  constructor(
    lives: Lives,
    facts: LifeFacts,
    reservation: NodeReservation,
    fate: Fate | undefined,
  ) {
    this.#lives = lives;
    this.#facts = facts;
    this.#reservation = reservation;
    this.fate = fate;
  }

  get namespaces(): readonly Namespace[] {
    return this.#lives.whose.for(this.#reservation);
  }

  get isItsOwn(): boolean {
    return this.#lives.whose.with(this.#reservation.text).length > 0;
  }

  get isLinked(): boolean {
    return this.#facts.namespaces().isLinked(this.#reservation.text);
  }

  get isOfNode(): boolean {
    return this.#lives.whose.nodeAddresses().has(this.#reservation.text);
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
    return this.#lives.whose.stranger();
  }

  get cacheError(): string | undefined {
    return this.#known.unreadable?.message;
  }

  get isJustReserved(): boolean {
    return this.#lives.isJustReserved(this.#reservation);
  }

  get candidate(): string | undefined {
    return this.#lives.candidateFor(this.#reservation);
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
