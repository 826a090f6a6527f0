/** Whether a reservation's container is alive, by everything on the node that shows it. */

import { formatAddress } from "../../ipam/address.ts";
import { parentOf } from "../../store/files/paths.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import { containerOf, interfaceOf, type NodeReservation } from "./node-reservations.ts";
import {
  addressesOf,
  namespaceOf,
  nodeNamespaceOf,
  type ProcessNamespace,
  readProcessNamespaces,
  seesHostProcesses,
} from "./process-namespaces.ts";
import type { CachedAttachment } from "./results-cache.ts";

/** `unknown`: nothing on the node shows it. */
export type Liveness = "alive" | "dead" | "unknown";

/**
 * What is missing to decide. `cacheEntry`: the cache does not know the container. `namespacePath`: the cache names no
 * network namespace for it, as libcni before 1.3. `view`: whether the namespace exists cannot be seen from this process.
 */
export type Missing = "cacheEntry" | "namespacePath" | "view";

/**
 * Whether a container is alive, and how that is known: the `reason` is a clause such as `its network namespace
 * /run/netns/cni-1 exists`.
 */
export type LivenessResult =
  | { readonly liveness: "alive" | "dead"; readonly reason: string }
  | { readonly liveness: "unknown"; readonly reason: string; readonly missing: Missing };

/**
 * Two sources: the network namespaces that libcni's cache names, and those of running processes. A container that is alive
 * by one of them is alive, whatever the other says.
 */
export interface LivenessChecker {
  /** What the cache knows of a reservation; several attachments for a legacy reservation, which names no interface. */
  readonly attachmentsOf: (reservation: NodeReservation) => readonly CachedAttachment[];
  readonly livenessOf: (reservation: NodeReservation) => LivenessResult;
  /** The same for an attachment of the cache, whether or not anything is reserved for it. */
  readonly livenessOfAttachment: (attachment: CachedAttachment) => LivenessResult;
  /** The namespaces of processes in which an address is configured, in its canonical form. */
  readonly namespacesWith: (address: string) => readonly ProcessNamespace[];
}

/**
 * Makes a checker; `/proc` is read once, at the first check that needs it.
 *
 * @param attachments libcni's cache
 */
export function makeLivenessChecker(
  system: OperatorSystem,
  attachments: readonly CachedAttachment[],
): LivenessChecker {
  const byContainer = Map.groupBy(attachments, ({ network, containerId }) =>
    keyOf(network, containerId),
  );
  let byAddress: ReadonlyMap<string, readonly ProcessNamespace[]> | undefined;
  const namespacesWith: LivenessChecker["namespacesWith"] = (address) => {
    byAddress ??= namespacesByAddress(readProcessNamespaces(system));
    return byAddress.get(address) ?? [];
  };
  const attachmentsOf: LivenessChecker["attachmentsOf"] = ({ network, owner }) =>
    (byContainer.get(keyOf(network.location.network, containerOf(owner))) ?? []).filter(
      ({ interfaceName }) => owner.kind === "legacy" || interfaceName === interfaceOf(owner),
    );
  const resultFor = (
    known: readonly CachedAttachment[],
    addresses: readonly string[],
  ): LivenessResult => {
    const results = known.map((one) => livenessOfNamespace(system, one));
    const alive = results.find(({ liveness }) => liveness === "alive");
    if (alive !== undefined) return alive;
    const [namespace] = addresses.flatMap(namespacesWith);
    if (namespace !== undefined) {
      const reason = `process ${namespace.processId} runs in a network namespace with this address`;
      return { liveness: "alive", reason };
    }
    const unknown = results.find(({ liveness }) => liveness === "unknown");
    return unknown ?? results[0] ?? notCached;
  };
  return {
    attachmentsOf,
    livenessOf: (reservation) => {
      const result = resultFor(attachmentsOf(reservation), [formatAddress(reservation.address)]);
      return result.liveness === "unknown" && reservation.isBeforeBoot ? beforeBoot : result;
    },
    livenessOfAttachment: (attachment) => resultFor([attachment], attachment.addresses),
    namespacesWith,
  };
}

/**
 * The liveness of many reservations. What shows that a container is alive counts for all that it holds: its namespace may
 * have an address of one family only.
 */
export function livenessOfAll(
  reservations: readonly NodeReservation[],
  { livenessOf }: LivenessChecker,
): ReadonlyMap<NodeReservation, LivenessResult> {
  const own = reservations.map((reservation) => [reservation, livenessOf(reservation)] as const);
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
 * A network namespace exists while something is mounted at its path, or while it is that of a process. A plain file shows
 * nothing: from within a container, what was mounted on the host later looks like one.
 */
function livenessOfNamespace(
  system: OperatorSystem,
  { networkNamespace: path, addresses }: CachedAttachment,
): LivenessResult {
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
    if (!isNamespace(system, path)) return unseen;
    // The process id of a container that ended may be that of another process by now.
    if (processId !== undefined && isOfNode(system, processId)) return gone;
    if (processId !== undefined && hasOtherAddresses(system, processId, addresses)) {
      const reason = `process ${processId}, whose network namespace it had, now has other addresses`;
      return { liveness: "unknown", reason, missing: "view" };
    }
    return { liveness: "alive", reason: `its network namespace ${path} exists` };
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ESRCH")) {
      const isSeen =
        processId === undefined ? hasNamespaces(system, parentOf(path)) : seesHostProcesses(system);
      return isSeen ? gone : unseen;
    }
    if (isSystemError(error)) return unseen;
    throw error;
  }
}

/** All namespaces lie on one device of the kernel's own (nsfs). */
function isNamespace(system: OperatorSystem, path: string): boolean {
  return system.status(path).device === system.status("/proc/self/ns/net").device;
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

/** Whether namespaces are mounted in a directory. A container in which none is visible may see none of the node's. */
function hasNamespaces(system: OperatorSystem, directory: string): boolean {
  try {
    return system.list(directory).some((name) => isNamespaceIfAny(system, `${directory}/${name}`));
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function isNamespaceIfAny(system: OperatorSystem, path: string): boolean {
  try {
    return isNamespace(system, path);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
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

function keyOf(network: string, containerId: string): string {
  return `${network}/${containerId}`;
}
