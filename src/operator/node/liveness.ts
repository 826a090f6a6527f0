/** Whether a reservation's container is alive, by everything on the node that shows it. */

import { formatAddress } from "../../ipam/address.ts";
import { parentOf } from "../../store/location.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import { containerOf, interfaceOf, type NodeReservation } from "./node-reservations.ts";
import { namespaceOf, type ProcessNamespace, readProcessNamespaces } from "./process-namespaces.ts";
import type { CachedAttachment } from "./results-cache.ts";

/** `unknown`: nothing on the node tells. */
export type Liveness = "alive" | "dead" | "unknown";

/** Whether a container is alive, and how that is known. */
export interface LivenessResult {
  readonly liveness: Liveness;
  /** Why, in a clause such as `its network namespace /run/netns/cni-1 exists`. */
  readonly reason: string;
}

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
  const byContainer = new Map<string, CachedAttachment[]>();
  for (const attachment of attachments) {
    const key = keyOf(attachment.network, attachment.containerId);
    const known = byContainer.get(key);
    if (known === undefined) byContainer.set(key, [attachment]);
    else known.push(attachment);
  }
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
    const results = known.map((one) => livenessOfNamespace(system, one.networkNamespace));
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
    livenessOf: (reservation) =>
      resultFor(attachmentsOf(reservation), [formatAddress(reservation.address)]),
    livenessOfAttachment: (attachment) => resultFor([attachment], attachment.addresses),
    namespacesWith,
  };
}

const notCached: LivenessResult = {
  liveness: "unknown",
  reason: "libcni's cache does not know its container",
};

/**
 * A network namespace exists while something is mounted at its path, or while it is the one of a process. A plain file
 * shows nothing: from within a container, what was mounted on the host later looks like one.
 */
function livenessOfNamespace(system: OperatorSystem, path: string): LivenessResult {
  if (path === "") {
    return { liveness: "unknown", reason: "libcni's cache names no network namespace for it" };
  }
  const unseen: LivenessResult = {
    liveness: "unknown",
    reason: `whether its network namespace ${path} exists cannot be seen from here`,
  };
  const gone: LivenessResult = {
    liveness: "dead",
    reason: `its network namespace ${path} is gone`,
  };
  if (!path.startsWith("/")) return unseen;
  try {
    if (!isNamespace(system, path)) return unseen;
    // The process id of a container that ended may be that of a process of the node by now.
    if (isNodesOwn(system, path)) return isMissingSeen(system, path) ? gone : unseen;
    return { liveness: "alive", reason: `its network namespace ${path} exists` };
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ESRCH")) return isMissingSeen(system, path) ? gone : unseen;
    if (isSystemError(error)) return unseen;
    throw error;
  }
}

/** All namespaces lie on one device of the kernel's own (nsfs). */
function isNamespace(system: OperatorSystem, path: string): boolean {
  return system.status(path).device === system.status("/proc/self/ns/net").device;
}

function isNodesOwn(system: OperatorSystem, path: string): boolean {
  const { inode } = system.status(path);
  const id = `net:[${inode}]`;
  return id === namespaceOf(system, "self") || id === namespaceOf(system, "1");
}

/** The kernel's own number for the process ids of the host. */
const HOST_PROCESSES = "pid:[4026531836]";

/**
 * Whether a missing namespace is really gone: only where others would be seen, among the processes of the host, or in a
 * directory in which other namespaces are mounted. Otherwise this may be a container that sees none.
 */
function isMissingSeen(system: OperatorSystem, path: string): boolean {
  try {
    if (/^\/proc\/[0-9]+\//.test(path)) {
      return system.readLink("/proc/self/ns/pid") === HOST_PROCESSES;
    }
    const directory = parentOf(path);
    return system.list(directory).some((name) => isNamespace(system, `${directory}/${name}`));
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
