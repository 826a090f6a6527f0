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

/** What the witnesses say of a container. */
export interface Testimony {
  readonly liveness: Liveness;
  /** Why, in a clause such as `its network namespace /run/netns/cni-1 exists`. */
  readonly reason: string;
}

/**
 * libcni's cache with the network namespaces that it names, and the network namespaces of running processes. What one
 * of them says is alive is alive, whatever the others say.
 */
export interface Witnesses {
  /** What the cache knows of a reservation; several attachments for a legacy reservation, which names no interface. */
  readonly attachmentsOf: (reservation: NodeReservation) => readonly CachedAttachment[];
  readonly testimonyOf: (reservation: NodeReservation) => Testimony;
  /** The same for an attachment of the cache, whether or not anything is reserved for it. */
  readonly testimonyOfAttachment: (attachment: CachedAttachment) => Testimony;
  /** The namespaces of processes in which an address is configured, in its canonical form. */
  readonly namespacesWith: (address: string) => readonly ProcessNamespace[];
}

/**
 * Calls the witnesses; `/proc` is read once, at the first question.
 *
 * @param attachments libcni's cache
 */
export function callWitnesses(
  system: OperatorSystem,
  attachments: readonly CachedAttachment[],
): Witnesses {
  const byContainer = new Map<string, CachedAttachment[]>();
  for (const attachment of attachments) {
    const key = keyOf(attachment.network, attachment.containerId);
    const known = byContainer.get(key);
    if (known === undefined) byContainer.set(key, [attachment]);
    else known.push(attachment);
  }
  let byAddress: ReadonlyMap<string, readonly ProcessNamespace[]> | undefined;
  const namespacesWith: Witnesses["namespacesWith"] = (address) => {
    byAddress ??= namespacesByAddress(readProcessNamespaces(system));
    return byAddress.get(address) ?? [];
  };
  const attachmentsOf: Witnesses["attachmentsOf"] = ({ network, owner }) =>
    (byContainer.get(keyOf(network.location.network, containerOf(owner))) ?? []).filter(
      ({ interfaceName }) => owner.kind === "legacy" || interfaceName === interfaceOf(owner),
    );
  const testimonyFor = (
    known: readonly CachedAttachment[],
    addresses: readonly string[],
  ): Testimony => {
    const testimonies = known.map((one) => testimonyOfNamespace(system, one.networkNamespace));
    const alive = testimonies.find(({ liveness }) => liveness === "alive");
    if (alive !== undefined) return alive;
    const [namespace] = addresses.flatMap(namespacesWith);
    if (namespace !== undefined) {
      const reason = `process ${namespace.processId} runs in a network namespace with this address`;
      return { liveness: "alive", reason };
    }
    const unknown = testimonies.find(({ liveness }) => liveness === "unknown");
    return unknown ?? testimonies[0] ?? notCached;
  };
  return {
    attachmentsOf,
    testimonyOf: (reservation) =>
      testimonyFor(attachmentsOf(reservation), [formatAddress(reservation.address)]),
    testimonyOfAttachment: (attachment) => testimonyFor([attachment], attachment.addresses),
    namespacesWith,
  };
}

const notCached: Testimony = {
  liveness: "unknown",
  reason: "libcni's cache does not know its container",
};

/**
 * A network namespace exists while something is mounted at its path, or while it is the one of a process. A plain file
 * shows nothing: from within a container, what was mounted on the host later looks like one.
 */
function testimonyOfNamespace(system: OperatorSystem, path: string): Testimony {
  if (path === "") {
    return { liveness: "unknown", reason: "libcni's cache names no network namespace for it" };
  }
  const unseen: Testimony = {
    liveness: "unknown",
    reason: `whether its network namespace ${path} exists cannot be seen from here`,
  };
  const gone: Testimony = { liveness: "dead", reason: `its network namespace ${path} is gone` };
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
