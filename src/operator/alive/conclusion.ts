/** What can be concluded of a reservation's container: the one place that says whether it is alive. */

import type { Namespace } from "../../store/namespaces/addresses-in-use.ts";
import type { NamespaceState } from "../../store/namespaces/namespace-state.ts";

/** `unknown`: nothing on the node shows it. */
export type Liveness = "alive" | "dead" | "unknown";

/**
 * Whether a container is alive, and how that is known: the `reason` is a clause such as `its network namespace
 * /run/netns/cni-1 exists`. By a `process`: whoever says that it is dead is wrong. By a `namespace` of its own: it may
 * have moved its address away. By a `mount`, or a `descriptor` alone: no process runs there, so that the runtime may have lost it.
 *
 * What is `unknown` a list of live containers can decide, unless what would tell was `unread`: libcni's cache, or the journal.
 * By the `record` it was reserved for no pod, and no namespace of its own is seen: then a list can decide only where it may
 * have the container.
 */
export type Conclusion =
  | {
      readonly liveness: "alive";
      readonly by: "process" | "namespace" | "descriptor";
      readonly reason: string;
    }
  | {
      readonly liveness: "alive";
      readonly by: "mount";
      /** Where the namespace is mounted. */
      readonly path: string;
      readonly reason: string;
    }
  | { readonly liveness: "dead"; readonly reason: string }
  | {
      readonly liveness: "unknown";
      readonly by: "view" | "unread" | "record";
      readonly reason: string;
    };

/** Formats what is known of a container's life as tables show it. */
export function formatLiveness(liveness: Liveness): string {
  return liveness === "dead" ? "no" : liveness === "alive" ? "yes" : "-";
}

/** A namespace that libcni's cache names for a container, and what became of it. */
export type NamedNamespace =
  | { readonly kind: "exists"; readonly path: string; readonly hasProcess: boolean }
  | { readonly kind: "gone"; readonly path: string }
  | { readonly kind: "unseen"; readonly reason: string };

/** What became of the namespace for which an ADD reserved the address, by the record in the journal. */
export interface RecordedNamespace extends NamespaceState {
  /** Whether it was the sandbox of a pod, which has nothing without its namespace; another address may be in use without one. */
  readonly isPodSandbox: boolean;
  readonly hasProcess: boolean;
  /** Whether the record could not be read. */
  readonly isUnread: boolean;
  /** While it lives: the namespace as the kernel names it. */
  readonly livingId?: string | undefined;
  /** Whether it lives, and neither a process nor a mount shows it. */
  readonly isOnlyOpen?: boolean;
}

/** What shows whether the container of a reservation is alive. */
export interface Evidence {
  /** The namespaces that have its address, or another one that its container holds. */
  readonly namespaces: readonly Pick<Namespace, "processId" | "path">[];
  /** Whether these have its address itself. */
  readonly isItsOwn: boolean;
  /** Whether a namespace has its address that is linked with the node's, whoever holds that. */
  readonly isLinked: boolean;
  /** Whether the node itself has its address. */
  readonly isOfNode: boolean;
  /** `undefined` where nothing is recorded of it as it is now, as of what the Go plugin has reserved. */
  readonly recorded: RecordedNamespace | undefined;
  /** The namespaces that libcni's cache names; none if it knows none. Not asked for where the record decides. */
  readonly named: readonly NamedNamespace[];
  /**
   * Why a namespace that the cache names, and that is gone from there, may live: processes run in one of which nothing tells whose
   * it is, or may; `undefined` where that is excluded.
   */
  readonly stranger: string | undefined;
  /** Why the cache may name another one. */
  readonly cacheError: string | undefined;
  /** Whether the reservation is known to be from before this boot. */
  readonly isBeforeBoot: boolean;
  /** Whether an ADD may be under way: what the cache names may be of a former container with the same id. */
  readonly isJustReserved: boolean;
  /** Why it need not be dead although no namespace has an address of its container; `undefined` if it is. */
  readonly candidate: string | undefined;
}

/** The evidence, each part asked for once, when a rule needs it. */
class Weighed {
  readonly evidence: Evidence;
  readonly #namespaces: Evidence["namespaces"];
  #recorded: RecordedNamespace | null | undefined;
  #named: readonly NamedNamespace[] | undefined;

  constructor(evidence: Evidence) {
    this.evidence = evidence;
    this.#namespaces = evidence.namespaces;
  }

  /** A namespace with its address in which a process runs. */
  get inUse(): Evidence["namespaces"][number] | undefined {
    return this.#namespaces.find(isOfProcess);
  }

  /** Any namespace with its address. */
  get having(): Evidence["namespaces"][number] | undefined {
    return this.#namespaces[0];
  }

  /** Which address these have. */
  get which(): string {
    return this.evidence.isItsOwn ? "this address" : "another address of its container";
  }

  /** The record of the ADD. */
  get recorded(): RecordedNamespace | undefined {
    if (this.#recorded === undefined) this.#recorded = this.evidence.recorded ?? null;
    return this.#recorded ?? undefined;
  }

  /** The record, where it decides: then libcni's cache is not asked. */
  get deciding(): RecordedNamespace | undefined {
    const { recorded } = this;
    if (recorded?.kind === "alive") return recorded;
    return recorded?.kind === "gone" && recorded.isPodSandbox ? recorded : undefined;
  }

  /**
   * What libcni's cache names, unless the record decides, or the boot: what it names from before that may be there again, as
   * another's.
   */
  get named(): readonly NamedNamespace[] {
    this.#named ??= this.isAsked ? this.evidence.named : [];
    return this.#named;
  }

  get isAsked(): boolean {
    return !this.evidence.isBeforeBoot && this.deciding === undefined;
  }
}

/** A rule: where it applies, this is concluded; `undefined` where it does not. */
type Rule = (weighed: Weighed) => Conclusion | undefined;

/**
 * A rule of the table.
 *
 * @param when finds what shows it; `undefined` where nothing does
 * @param then concludes from that, with the reason
 */
function rule<Found>(
  when: (weighed: Weighed) => Found | undefined,
  then: (found: Found, weighed: Weighed) => Conclusion,
): Rule {
  return (weighed) => {
    const found = when(weighed);
    return found === undefined ? undefined : then(found, weighed);
  };
}

const alive = (by: "process" | "namespace" | "descriptor", reason: string): Conclusion => ({
  liveness: "alive",
  by,
  reason,
});
const dead = (reason: string): Conclusion => ({ liveness: "dead", reason });
const unknown = (by: "view" | "unread" | "record", reason: string): Conclusion => ({
  liveness: "unknown",
  by,
  reason,
});

const OF_NO_POD =
  "the address was reserved for no pod sandbox, and may be in use without a container";

const NOT_KNOWN = "no process has the address, and the namespace of its container is not known";

/**
 * The rules, of which the first that applies concludes. Whoever runs outweighs what is written down; what is there outweighs
 * what is gone; and what cannot be read outweighs what the rest would show, since it could show that the container lives.
 */
const rules: readonly Rule[] = [
  // A process with the address uses it, whoever it is reserved for.
  rule(
    ({ inUse }) => inUse,
    ({ processId }, { which }) =>
      alive("process", `process ${processId} runs in a network namespace with ${which}`),
  ),
  // A container need not have its address in its namespace: that of a virtual machine is on a tap.
  rule(
    ({ recorded }) => (recorded?.kind === "alive" && recorded.hasProcess ? recorded : undefined),
    ({ reason }) => alive("process", reason),
  ),
  // The same, as libcni's cache tells it.
  rule(
    ({ named }) => named.find(isInUse),
    ({ path }) => alive("process", whyAlive(path)),
  ),
  // No container of its own has it; but whoever got it would share it with the node.
  rule(
    ({ evidence: { isOfNode } }) => isOfNode || undefined,
    () => alive("namespace", "the node itself has this address"),
  ),
  // The runtime may have lost it, so this does not say that the container lives as surely as the above.
  rule(
    ({ having }) => having,
    ({ path }, { which }) => ({
      liveness: "alive",
      by: "mount",
      path,
      reason: `the network namespace ${path} has ${which}; no process runs there`,
    }),
  ),
  // What holds it is not seen: such as a socket, or a descriptor.
  rule(
    ({ evidence: { isLinked }, recorded }) => (isLinked && recorded?.kind !== "alive") || undefined,
    () => alive("namespace", "a network namespace that is linked with the node's has this address"),
  ),
  // The plugin saw this namespace itself: its record outweighs what the cache says.
  rule(
    ({ deciding }) => deciding,
    ({ kind, isOnlyOpen, reason }) => {
      if (kind === "gone") return dead(reason);
      return alive(isOnlyOpen === true ? "descriptor" : "namespace", reason);
    },
  ),
  // No container outlives a boot.
  rule(
    ({ evidence: { isBeforeBoot } }) => isBeforeBoot || undefined,
    () => dead("it is from before this boot of the node"),
  ),
  // The namespace may have moved its address away.
  rule(
    ({ named }) => named.find(exists),
    ({ path }) => alive("namespace", whyAlive(path)),
  ),
  // What cannot be read may name a namespace that exists.
  rule(
    ({ evidence: { cacheError } }) => cacheError,
    (error) => unknown("unread", `libcni's cache cannot be read: ${error}`),
  ),
  // What cannot be read may record a namespace that exists.
  rule(
    ({ recorded }) => (recorded?.isUnread === true ? recorded : undefined),
    ({ reason }) => unknown("unread", reason),
  ),
  // What the plugin saw may live unseen, whatever else is known: the cache knows no more of it than its path.
  rule(
    ({ recorded }) => (recorded?.kind === "unseen" ? recorded : undefined),
    ({ reason, isPodSandbox }) =>
      isPodSandbox ? unknown("view", reason) : unknown("record", `${reason}; ${OF_NO_POD}`),
  ),
  // Of several attachments each must be gone. While an ADD may be under way, they may be of a former container with this id.
  rule(
    ({ named, evidence }) => {
      const gone = named.find(isGone);
      const isSure = gone !== undefined && !named.some(isUnseen) && !evidence.isJustReserved;
      return isSure ? gone : undefined;
    },
    ({ path }, { evidence: { stranger } }) => {
      const reason = `its network namespace ${path} is gone`;
      // Unmounted, or left by the process that is named, it lives as long as another process runs there.
      return stranger === undefined ? dead(reason) : unknown("view", `${reason}; ${stranger}`);
    },
  ),
  // Such as the address of an ingress: nobody but its owner knows whether it is in use.
  rule(
    ({ recorded }) => (recorded?.isPodSandbox === false ? recorded : undefined),
    ({ reason }) => unknown("record", `${reason}; ${OF_NO_POD}`),
  ),
  // A namespace of which nothing tells whose it is may be that of the container.
  rule(
    ({ evidence: { candidate } }) => candidate,
    (candidate, { named }) =>
      unknown("view", `${named.find(isUnseen)?.reason ?? NOT_KNOWN}; ${candidate}`),
  ),
];

/** Concludes from the evidence, of which it asks no more than it needs. */
export function conclude(evidence: Evidence): Conclusion {
  const weighed = new Weighed(evidence);
  for (const one of rules) {
    const conclusion = one(weighed);
    if (conclusion !== undefined) return conclusion;
  }
  return dead("no network namespace has the address, and all of the node are known");
}

type Kind<K extends NamedNamespace["kind"]> = Extract<NamedNamespace, { readonly kind: K }>;

// Named, since a function that is made anew for each of 65 000 reservations takes longer than it runs.

function isOfProcess({ processId }: Pick<Namespace, "processId">): boolean {
  return processId !== undefined;
}

function exists(one: NamedNamespace): one is Kind<"exists"> {
  return one.kind === "exists";
}

function isInUse(one: NamedNamespace): one is Kind<"exists"> {
  return one.kind === "exists" && one.hasProcess;
}

function isUnseen(one: NamedNamespace): one is Kind<"unseen"> {
  return one.kind === "unseen";
}

function isGone(one: NamedNamespace): one is Kind<"gone"> {
  return one.kind === "gone";
}

function whyAlive(path: string): string {
  return `its network namespace ${path} exists`;
}
