/** Whether the container of a reservation lives: the one place that says so, for the plugin and for the commands. */

import type { Namespace } from "../namespaces/addresses-in-use.ts";

/** `unknown`: nothing on the node shows it. */
export type Liveness = "alive" | "dead" | "unknown";

/**
 * Whether a container is alive, and how that is known; the `reason` is a clause such as `its network namespace /run/netns/cni-1
 * exists`. Alive by a `process`: whoever says that it is dead is wrong. By a `namespace` of its own: it may have moved its
 * address away. By an `idle` namespace, which only a mount or a descriptor holds: its runtime may have lost it. By the
 * `address`, which somebody has: it is kept, and tells nothing of what else the container holds.
 *
 * Dead by a `boot` or by the `record` of its ADD: for certain, so that any ADD may take its address, if nobody uses it. By libcni's
 * `cache`, or by all `namespaces` of the node: as far as these are complete.
 *
 * `unknown`: a list of live containers can decide, unless the evidence was `unread`: libcni's cache, or the journal. By the
 * `record`, it was reserved for no pod, and no namespace of its own is seen: then a list can decide only where it may have the
 * container.
 */
export type Conclusion =
  | {
      readonly liveness: "alive";
      readonly by: "process" | "namespace" | "idle" | "address";
      readonly reason: string;
    }
  | {
      readonly liveness: "dead";
      readonly by: "boot" | "record" | "cache" | "namespaces";
      readonly reason: string;
    }
  | {
      readonly liveness: "unknown";
      readonly by: "view" | "unread" | "record";
      readonly reason: string;
    };

/** What the journal tells of a reservation's container, as far as it tells anything of this very file. */
export type Fate =
  /** The reservation is from before this boot, or of a pod's sandbox whose network namespace is gone: nothing of it lives. */
  | { readonly kind: "dead"; readonly by: "boot" | "record"; readonly reason: string }
  /** Its network namespace lives. */
  | {
      readonly kind: "alive";
      /** The namespace as the kernel names it. */
      readonly namespace: string;
      readonly reason: string;
      /** Whether it is not at its path any more. */
      readonly hasLeft: boolean;
    }
  /** Its namespace is gone, and was no pod's sandbox: the address may be in use without one. */
  | { readonly kind: "gone"; readonly reason: string }
  | { readonly kind: "unseen"; readonly isPodSandbox: boolean; readonly reason: string }
  /** The journal cannot be read. */
  | { readonly kind: "unread"; readonly reason: string };

/** The fate of what is from before this boot: no container outlives one. */
export const BEFORE_BOOT: Fate = {
  kind: "dead",
  by: "boot",
  reason: "it is from before this boot of the node",
};

/** A namespace that libcni's cache names for a container, and what became of it. */
export type NamedNamespace =
  | { readonly kind: "exists"; readonly path: string; readonly hasProcess: boolean }
  | { readonly kind: "gone"; readonly path: string }
  | { readonly kind: "unseen"; readonly reason: string };

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
  readonly fate: Fate | undefined;
  /** Whether a process runs in the namespace that is recorded. */
  readonly isRunning: boolean;
  /** Whether neither a process nor a mount shows that. */
  readonly isOnlyOpen: boolean;
  /** The namespaces that libcni's cache names; none if it knows none. Not asked for where the journal decides. */
  readonly named: readonly NamedNamespace[];
  /**
   * Why a namespace that the cache names, and that is gone from there, may live: processes run, or may run, in one of which
   * nothing tells whose it is; `undefined` where that is excluded.
   */
  readonly stranger: string | undefined;
  /** Why the cache may name another one. */
  readonly cacheError: string | undefined;
  /** Whether an ADD may be under way: the cache may then name a namespace of a former container with the same id. */
  readonly isJustReserved: boolean;
  /** Why the container need not be dead although no namespace has an address of it; `undefined` if it is. */
  readonly candidate: string | undefined;
}

type Kind<Union, K> = Extract<Union, { readonly kind: K }>;

/** The evidence; what libcni's cache names is asked for once, and only where the journal does not decide. */
class Weighed {
  readonly evidence: Evidence;
  readonly fate: Fate | undefined;
  #named: readonly NamedNamespace[] | undefined;

  constructor(evidence: Evidence) {
    this.evidence = evidence;
    this.fate = evidence.fate;
  }

  /** Which address the namespaces have. */
  get which(): string {
    return this.evidence.isItsOwn ? "this address" : "another address of its container";
  }

  /** What the journal tells, where that decides. */
  get deciding(): Kind<Fate, "alive" | "dead"> | undefined {
    const { fate } = this;
    return fate?.kind === "alive" || fate?.kind === "dead" ? fate : undefined;
  }

  get named(): readonly NamedNamespace[] {
    this.#named ??= this.deciding === undefined ? this.evidence.named : [];
    return this.#named;
  }
}

/** A rule: what it concludes where it applies; `undefined` where it does not. */
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

type By<L extends Liveness> = Extract<Conclusion, { readonly liveness: L }>["by"];

const alive = (by: By<"alive">, reason: string): Conclusion => ({
  liveness: "alive",
  by,
  reason,
});
const dead = (by: By<"dead">, reason: string): Conclusion => ({ liveness: "dead", by, reason });
const unknown = (by: By<"unknown">, reason: string): Conclusion => ({
  liveness: "unknown",
  by,
  reason,
});

const OF_NO_POD =
  "the address was reserved for no pod sandbox, and may be in use without a container";

const NOT_KNOWN = "no process has the address, and the namespace of its container is not known";

/**
 * The rules; the first that applies concludes. A running process outweighs what is written down; what the plugin saw itself
 * outweighs what libcni's cache says; what is there outweighs what is gone; and what cannot be read outweighs the rest, since
 * it could show that the container lives.
 */
const rules: readonly Rule[] = [
  // A process with the address uses it, whoever it is reserved for.
  rule(
    ({ evidence: { namespaces } }) => namespaces.find(isOfProcess),
    ({ processId }, { which }) =>
      alive("process", `process ${processId} runs in a network namespace with ${which}`),
  ),
  // A container's address need not be in its namespace: that of a virtual machine is on a tap.
  rule(
    ({ fate, evidence }) => (fate?.kind === "alive" && evidence.isRunning ? fate : undefined),
    ({ reason }) => alive("process", reason),
  ),
  // libcni's cache tells the same.
  rule(
    ({ named }) => named.find(isInUse),
    ({ path }) => alive("process", whyAlive(path)),
  ),
  // No container has it for itself; but whoever got it would share it with the node.
  rule(
    ({ evidence: { isOfNode } }) => isOfNode || undefined,
    () => alive("address", "the node itself has this address"),
  ),
  // The runtime may have lost the container, so this is weaker evidence than the above.
  rule(
    ({ evidence: { namespaces } }) => namespaces[0],
    ({ path }, { which }) =>
      alive("idle", `the network namespace ${path} has ${which}; no process runs there`),
  ),
  // The holder of the namespace is not seen: it may be a socket, or a descriptor.
  rule(
    ({ evidence: { isLinked }, fate }) => (isLinked && fate?.kind !== "alive") || undefined,
    () => alive("address", "a network namespace that is linked with the node's has this address"),
  ),
  // No container outlives a boot, nor a pod's sandbox its namespace.
  rule(
    ({ deciding }) => deciding,
    (fate, { evidence: { isOnlyOpen } }) => {
      if (fate.kind === "dead") return dead(fate.by, fate.reason);
      return alive(isOnlyOpen ? "idle" : "namespace", fate.reason);
    },
  ),
  // The namespace may have moved its address away.
  rule(
    ({ named }) => named.find(exists),
    ({ path }) => alive("namespace", whyAlive(path)),
  ),
  // A cache that cannot be read may name a namespace that exists.
  rule(
    ({ evidence: { cacheError } }) => cacheError,
    (error) => unknown("unread", `libcni's cache cannot be read: ${error}`),
  ),
  // A journal that cannot be read may record a namespace that exists.
  rule(
    ({ fate }) => (fate?.kind === "unread" ? fate : undefined),
    ({ reason }) => unknown("unread", reason),
  ),
  // The namespace that the plugin saw may live unseen, whatever else is known: the cache knows only its path.
  rule(
    ({ fate }) => (fate?.kind === "unseen" ? fate : undefined),
    ({ reason, isPodSandbox }) =>
      isPodSandbox ? unknown("view", reason) : unknown("record", `${reason}; ${OF_NO_POD}`),
  ),
  // Each of several attachments must be gone. While an ADD may be under way, they may be of a former container with this id.
  rule(
    ({ named, evidence }) => {
      const gone = named.find(isGone);
      const isSure = gone !== undefined && !named.some(isUnseen) && !evidence.isJustReserved;
      return isSure ? gone : undefined;
    },
    ({ path }, { evidence: { stranger } }) => {
      const reason = `its network namespace ${path} is gone`;
      // A namespace that was unmounted, or left by the process that is named, lives as long as another process runs there.
      return stranger === undefined
        ? dead("cache", reason)
        : unknown("view", `${reason}; ${stranger}`);
    },
  ),
  // Only the owner of such an address, as of an ingress, knows whether it is in use.
  rule(
    ({ fate }) => (fate?.kind === "gone" ? fate : undefined),
    ({ reason }) => unknown("record", `${reason}; ${OF_NO_POD}`),
  ),
  // A namespace of which nothing tells whose it is may be that of this container.
  rule(
    ({ evidence: { candidate } }) => candidate,
    (candidate, { named }) =>
      unknown("view", `${named.find(isUnseen)?.reason ?? NOT_KNOWN}; ${candidate}`),
  ),
];

/** Concludes from the evidence, of which it asks no more than it needs. */
export function conclude(evidence: Evidence): Conclusion {
  const weighed = new Weighed(evidence);
  for (const concludeBy of rules) {
    const conclusion = concludeBy(weighed);
    if (conclusion !== undefined) return conclusion;
  }
  return dead("namespaces", "no network namespace has the address, and all of the node are known");
}

/**
 * Whether the address is held for nobody that is seen to need it: the container is dead, or in an idle namespace, which its
 * runtime may have lost.
 */
export function mayHaveLeaked(conclusion: Conclusion): boolean {
  return conclusion.liveness === "dead" || hasNoProcess(conclusion);
}

/** Whether a container is alive by a mount or a descriptor alone: no process runs in its network namespace. */
export function hasNoProcess({ liveness, by }: Conclusion): boolean {
  return liveness === "alive" && by === "idle";
}

/**
 * Whether a list that lacks the container shows that it is dead, since nothing of it is seen. A container with a network
 * namespace is kept, whatever the list: a runtime may have lost a sandbox whose address still answers.
 */
export function mayBeDead(conclusion: Conclusion): boolean {
  return conclusion.liveness === "unknown" && conclusion.by !== "unread";
}

/**
 * Whether it is recorded that it was reserved for no pod: the address may be in use without a container, and a list decides
 * only on what a runtime runs.
 */
export function isRecorded(conclusion: Conclusion): boolean {
  return conclusion.liveness === "unknown" && conclusion.by === "record";
}

/** Formats what is known of a container's life as tables show it. */
export function formatLiveness(liveness: Liveness): string {
  return liveness === "dead" ? "no" : liveness === "alive" ? "yes" : "-";
}

// These functions have names, since making one anew for each of 65 000 reservations takes longer than running it.

function isOfProcess({ processId }: Pick<Namespace, "processId">): boolean {
  return processId !== undefined;
}

function exists(namespace: NamedNamespace): namespace is Kind<NamedNamespace, "exists"> {
  return namespace.kind === "exists";
}

function isInUse(namespace: NamedNamespace): namespace is Kind<NamedNamespace, "exists"> {
  return namespace.kind === "exists" && namespace.hasProcess;
}

function isUnseen(namespace: NamedNamespace): namespace is Kind<NamedNamespace, "unseen"> {
  return namespace.kind === "unseen";
}

function isGone(namespace: NamedNamespace): namespace is Kind<NamedNamespace, "gone"> {
  return namespace.kind === "gone";
}

function whyAlive(path: string): string {
  return `its network namespace ${path} exists`;
}
