/** Whether a reservation's container is alive, by everything on the node that shows it. */

import { formatAddress } from "../../ipam/address.ts";
import { parentOf } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError } from "../../system/system.ts";
import type { NodeReservation } from "./network-directory.ts";
import { containerOf } from "./node-reservations.ts";
import {
  addressesOf,
  namespaceOf,
  nodeNamespaceOf,
  type ProcessNamespace,
  readProcessNamespaces,
  seesHostProcesses,
} from "./process-namespaces.ts";
import type { CachedAttachment, ResultsCache } from "./results-cache.ts";

/** `unknown`: nothing on the node shows it. */
export type Liveness = "alive" | "dead" | "unknown";

/**
 * What is missing to decide. `cacheEntry`: the cache does not know the container. `namespacePath`: the cache names no
 * network namespace for it, as libcni before 1.3. `view`: whether the namespace exists cannot be seen from this process.
 * `cache`: what the cache has of it cannot be read, so that not even a list of live containers shows it to be dead.
 */
export type Missing = "cacheEntry" | "namespacePath" | "view" | "cache";

/**
 * Whether a container is alive, and how that is known: the `reason` is a clause such as `its network namespace
 * /run/netns/cni-1 exists`.
 */
export type LivenessResult =
  | { readonly liveness: "alive" | "dead"; readonly reason: string }
  | { readonly liveness: "unknown"; readonly reason: string; readonly missing: Missing };

/**
 * Tells from two sources whether a container is alive: the network namespaces that libcni's cache names, and those of
 * running processes. One that is alive by either of them is alive, whatever the other says. What it has found out it
 * remembers.
 */
export class LivenessChecker {
  readonly #system: OperatorSystem;
  readonly #cache: Pick<ResultsCache, "attachmentsOf" | "unreadableOf">;
  readonly #results = new Map<NodeReservation, LivenessResult>();
  readonly #namespaces: MountedNamespaces;
  #byAddress: ReadonlyMap<string, readonly ProcessNamespace[]> | undefined;

  constructor(system: OperatorSystem, cache: Pick<ResultsCache, "attachmentsOf" | "unreadableOf">) {
    this.#system = system;
    this.#cache = cache;
    this.#namespaces = new MountedNamespaces(system);
  }

  livenessOf(reservation: NodeReservation): LivenessResult {
    const known = this.#results.get(reservation);
    if (known !== undefined) return known;
    const result = this.#determine(reservation);
    this.#results.set(reservation, result);
    return result;
  }

  #determine(reservation: NodeReservation): LivenessResult {
    const attachments = this.#cache.attachmentsOf(reservation);
    const byNode = this.#resultFor(attachments, [formatAddress(reservation.address)]);
    if (byNode.liveness === "alive") return byNode;
    const error = this.#cache.unreadableOf(reservation);
    if (error !== undefined) {
      const reason = `libcni's cache cannot be read: ${error.message}`;
      return { liveness: "unknown", reason, missing: "cache" };
    }
    return byNode.liveness === "unknown" && reservation.isBeforeBoot ? beforeBoot : byNode;
  }

  /** The same for an attachment of the cache, whether or not anything is reserved for it. */
  livenessOfAttachment(attachment: CachedAttachment): LivenessResult {
    return this.#resultFor([attachment], attachment.addresses);
  }

  /** The namespaces of processes in which an address is configured, in its canonical form. */
  namespacesWith(address: string): readonly ProcessNamespace[] {
    this.#byAddress ??= namespacesByAddress(readProcessNamespaces(this.#system));
    return this.#byAddress.get(address) ?? [];
  }

  #resultFor(known: readonly CachedAttachment[], addresses: readonly string[]): LivenessResult {
    const results = known.map((one) => this.#namespaces.livenessOf(one));
    const alive = results.find(({ liveness }) => liveness === "alive");
    if (alive !== undefined) return alive;
    const [namespace] = addresses.flatMap((address) => this.namespacesWith(address));
    if (namespace !== undefined) {
      const reason = `process ${namespace.processId} runs in a network namespace with this address`;
      return { liveness: "alive", reason };
    }
    const unknown = results.find(({ liveness }) => liveness === "unknown");
    return unknown ?? results[0] ?? notCached;
  }
}

/**
 * The liveness of many reservations. What shows that a container is alive counts for all that it holds: its namespace may
 * have an address of one family only.
 */
export function livenessOfAll(
  reservations: readonly NodeReservation[],
  checker: LivenessChecker,
): ReadonlyMap<NodeReservation, LivenessResult> {
  const own = reservations.map((one) => [one, checker.livenessOf(one)] as const);
  const alive = new Map(
    own
      .filter(([, { liveness }]) => liveness === "alive")
      .map(([{ owner }, result]) => [containerOf(owner), result]),
  );
  alive.delete("");
  return new Map(
    own.map(([reservation, result]) => [
      reservation,
      alive.get(containerOf(reservation.owner)) ?? result,
    ]),
  );
}

const beforeBoot: LivenessResult = {
  liveness: "dead",
  reason: "it is from before this boot of the node",
};

const notCached: LivenessResult = {
  liveness: "unknown",
  reason: "libcni's cache does not know its container",
  missing: "cacheEntry",
};

/**
 * The network namespaces that libcni's cache names. One exists while something is mounted at its path, or while it is that
 * of a process. A plain file shows nothing: from within a container, what was mounted on the host later looks like one.
 */
class MountedNamespaces {
  readonly #system: OperatorSystem;
  /** Directories, and whether namespaces are mounted there. */
  readonly #directories = new Map<string, boolean>();
  /** All namespaces lie on one device of the kernel's own (nsfs). */
  #device: bigint | undefined;
  #seesHostProcesses: boolean | undefined;

  constructor(system: OperatorSystem) {
    this.#system = system;
  }

  livenessOf({ networkNamespace: path, addresses }: CachedAttachment): LivenessResult {
    if (path === "") {
      const reason = "libcni's cache names no network namespace for it";
      return { liveness: "unknown", reason, missing: "namespacePath" };
    }
    const unseen: LivenessResult = {
      liveness: "unknown",
      reason: `whether its network namespace ${path} exists cannot be seen from here`,
      missing: "view",
    };
    const gone: LivenessResult = {
      liveness: "dead",
      reason: `its network namespace ${path} is gone`,
    };
    if (!path.startsWith("/")) return unseen;
    const [, processId] = /^\/proc\/([0-9]+)\//.exec(path) ?? [];
    try {
      if (!this.#isNamespace(path)) return unseen;
      // The process id of a container that ended may be that of another process by now.
      if (processId !== undefined && isOfNode(this.#system, processId)) return gone;
      if (processId !== undefined && hasOtherAddresses(this.#system, processId, addresses)) {
        const reason = `process ${processId}, whose network namespace it had, now has other addresses`;
        return { liveness: "unknown", reason, missing: "view" };
      }
      return { liveness: "alive", reason: `its network namespace ${path} exists` };
    } catch (error) {
      if (isSystemError(error, "ENOENT", "ESRCH")) {
        const isSeen =
          processId === undefined ? this.#hasNamespaces(parentOf(path)) : this.#seesHost();
        return isSeen ? gone : unseen;
      }
      if (isSystemError(error)) return unseen;
      throw error;
    }
  }

  #isNamespace(path: string): boolean {
    this.#device ??= this.#system.status("/proc/self/ns/net").device;
    return this.#system.status(path).device === this.#device;
  }

  /** A container in which no namespace is visible may see none of the node's. */
  #hasNamespaces(directory: string): boolean {
    const known = this.#directories.get(directory);
    if (known !== undefined) return known;
    const names = attempt(() => this.#system.list(directory), []);
    const found = names.some((name) =>
      attempt(() => this.#isNamespace(`${directory}/${name}`), false),
    );
    this.#directories.set(directory, found);
    return found;
  }

  #seesHost(): boolean {
    this.#seesHostProcesses ??= seesHostProcesses(this.#system);
    return this.#seesHostProcesses;
  }
}

function isOfNode(system: OperatorSystem, processId: string): boolean {
  const namespace = namespaceOf(system, processId);
  return namespace !== undefined && namespace === nodeNamespaceOf(system);
}

/** An interface that is down has no address there, so this does not show that a container is dead. */
function hasOtherAddresses(
  system: OperatorSystem,
  processId: string,
  addresses: readonly string[],
): boolean {
  const configured = addressesOf(system, processId);
  return (
    configured !== undefined &&
    addresses.length > 0 &&
    !addresses.some((address) => configured.has(address))
  );
}

function namespacesByAddress(
  namespaces: readonly ProcessNamespace[],
): ReadonlyMap<string, readonly ProcessNamespace[]> {
  const byAddress = new Map<string, ProcessNamespace[]>();
  for (const namespace of namespaces) {
    for (const address of namespace.addresses) {
      const known = byAddress.get(address);
      if (known === undefined) byAddress.set(address, [namespace]);
      else known.push(namespace);
    }
  }
  return byAddress;
}
