/** What can be concluded of a reservation's container: the one place that says whether it is alive. */

import type { Namespace } from "../../store/namespaces/addresses-in-use.ts";
import type { NamespaceState } from "../../store/namespaces/namespace-state.ts";

/** `unknown`: nothing on the node shows it. */
export type Liveness = "alive" | "dead" | "unknown";

/**
 * Whether a container is alive, and how that is known: the `reason` is a clause such as `its network namespace
 * /run/netns/cni-1 exists`. By a `process`: whoever says that it is dead is wrong. By a `namespace` of its own: it may
 * have moved its address away. By a `mount`: no process runs there, so that the runtime may have lost it.
 *
 * What is `unknown` a list of live containers can decide, unless what would tell was `unread`: libcni's cache, or the journal.
 * By the `record` it was reserved for no pod, and no namespace of its own is seen: then a list can decide only where it may
 * have the container.
 */
export type Conclusion =
  | {
      readonly liveness: "alive";
      readonly by: "process" | "namespace";
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

/** As tables show it. */
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
}

/** What shows whether the container of a reservation is alive. */
export interface Evidence {
  /** The namespaces that have its address, or another one that its container holds. */
  readonly namespaces: readonly Pick<Namespace, "processId" | "path">[];
  /** Whether these have its address itself. */
  readonly isItsOwn: boolean;
  /** Whether the node itself has its address. */
  readonly isOfNode: boolean;
  /** `undefined` where nothing is recorded of it as it is now, as of what the Go plugin has reserved. */
  readonly recorded: RecordedNamespace | undefined;
  /** Those that libcni's cache names; none if it knows none. Not asked for where the record decides. */
  readonly named: readonly NamedNamespace[];
  /** Why the cache may name another one. */
  readonly cacheError: string | undefined;
  /** Whether the reservation is known to be from before this boot. */
  readonly isBeforeBoot: boolean;
  /** Whether an ADD may be under way: what the cache names may be of a former container with the same id. */
  readonly isJustReserved: boolean;
  /** Why it need not be dead although no namespace has an address of its container; `undefined` if it is. */
  readonly candidate: string | undefined;
}

/** Concludes from the evidence, of which it asks no more than it needs. */
export function conclude(evidence: Evidence): Conclusion {
  const { namespaces } = evidence;
  const inUse = namespaces.find(isOfProcess);
  const which = evidence.isItsOwn ? "this address" : "another address of its container";
  if (inUse !== undefined) {
    const reason = `process ${inUse.processId} runs in a network namespace with ${which}`;
    return { liveness: "alive", by: "process", reason };
  }
  const { recorded } = evidence;
  const isDecided =
    recorded?.kind === "alive" || (recorded?.kind === "gone" && recorded.isPodSandbox);
  const named = isDecided ? [] : evidence.named;
  const own = named.find(isInUse) ?? named.find(exists);
  if (recorded?.kind === "alive" && recorded.hasProcess) {
    return { liveness: "alive", by: "process", reason: recorded.reason };
  }
  if (own?.hasProcess === true) {
    return { liveness: "alive", by: "process", reason: whyAlive(own.path) };
  }
  if (evidence.isOfNode) {
    return { liveness: "alive", by: "namespace", reason: "the node itself has this address" };
  }
  const mounted = namespaces[0];
  if (mounted !== undefined) {
    const { path } = mounted;
    const reason = `the network namespace ${path} has ${which}; no process runs there`;
    return { liveness: "alive", by: "mount", path, reason };
  }
  if (recorded !== undefined && isDecided) {
    const { kind, reason } = recorded;
    if (kind === "alive") return { liveness: "alive", by: "namespace", reason };
    return { liveness: "dead", reason };
  }
  if (own !== undefined) {
    return { liveness: "alive", by: "namespace", reason: whyAlive(own.path) };
  }
  if (evidence.cacheError !== undefined) {
    const reason = `libcni's cache cannot be read: ${evidence.cacheError}`;
    return { liveness: "unknown", by: "unread", reason };
  }
  const unseen = named.find(isUnseen);
  const gone = named.find(isGone);
  if (gone !== undefined && unseen === undefined && !evidence.isJustReserved) {
    return { liveness: "dead", reason: `its network namespace ${gone.path} is gone` };
  }
  if (evidence.isBeforeBoot) {
    return { liveness: "dead", reason: "it is from before this boot of the node" };
  }
  if (recorded?.isUnread === true) {
    return { liveness: "unknown", by: "unread", reason: recorded.reason };
  }
  if (recorded?.isPodSandbox === false) {
    const reason = `${recorded.reason}; the address was reserved for no pod sandbox, and may be in use without a container`;
    return { liveness: "unknown", by: "record", reason };
  }
  const { candidate } = evidence;
  if (candidate === undefined) {
    const reason = "no network namespace has the address, and all of the node are known";
    return { liveness: "dead", reason };
  }
  const doubt =
    unseen?.reason ??
    recorded?.reason ??
    "no process has the address, and the namespace of its container is not known";
  return { liveness: "unknown", by: "view", reason: `${doubt}; ${candidate}` };
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
