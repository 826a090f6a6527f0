/** The network namespaces of the node, each looked at once: the kernel knows which addresses are in use. */

import { parentOf } from "../../store/files/paths.ts";
import {
  addressesBy,
  interfacesIn,
  LARGEST_TABLE,
  nodeNamespaceOf,
  OWN_TABLES,
  readProcesses,
  seesHostProcesses,
} from "../../store/namespaces/process-namespaces.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError } from "../../system/system.ts";

/** A network namespace other than that of the node itself. */
export interface Namespace {
  /** As the kernel names it, such as `net:[4026532345]`; `undefined` if this user may not inspect its processes. */
  readonly id: string | undefined;
  /** One of its processes; `undefined` if none runs there: it is only mounted. */
  readonly processId: number | undefined;
  /** Where it is mounted, or that of its process. */
  readonly path: string;
  /** Its addresses of both families, in their canonical form; loopback and link-local ones among them. */
  readonly addresses: ReadonlySet<string>;
  /** Whether it has another interface than `lo`, or may have. */
  readonly hasInterface: () => boolean;
}

/** What became of a path at which a namespace was, and the id of the namespace. */
export type PathState =
  | { readonly kind: "exists"; readonly id: string }
  | { readonly kind: "gone" }
  | { readonly kind: "unseen" };

/** A namespace that is mounted, with the path where a process sees it. */
interface Mount {
  readonly id: string;
  readonly path: string;
  /** The same from here. */
  readonly reachedAt: string;
}

/** `/proc/PID/mountinfo` of a node with thousands of containers is smaller, in bytes. */
const LARGEST_MOUNTINFO = 64 * 1024 * 1024;

/**
 * All that is seen from here of the network namespaces, read once: those of processes, and those that are only mounted,
 * which are entered.
 */
export class Namespaces {
  readonly all: readonly Namespace[];
  /** Why there may be more; `undefined` where all are seen. */
  readonly incomplete: string | undefined;
  readonly #system: OperatorSystem;
  readonly #mounts: readonly Mount[];
  /** Whether the mounts of the node are seen, not only those of a container. */
  readonly #seesMounts: boolean;
  readonly #byAddress = new Map<string, readonly Namespace[]>();
  readonly #ofProcesses = new Set<string>();

  constructor(system: OperatorSystem) {
    this.#system = system;
    const { namespaces, ofNode } = readProcesses(system);
    const mounted = readMounts(system, ofNode);
    this.#mounts = mounted.mounts;
    this.#seesMounts = mounted.seesNode;
    for (const { id } of namespaces) if (id !== undefined) this.#ofProcesses.add(id);
    const entered = this.#enterAll(ofNode);
    this.all = [
      ...namespaces.map(
        (one): Namespace => ({
          ...one,
          path: `/proc/${one.processId}/ns/net`,
          hasInterface: () =>
            hasInterface(() => system.readFile(`/proc/${one.processId}/net/dev`, LARGEST_TABLE)),
        }),
      ),
      ...entered.namespaces,
    ];
    this.incomplete = this.#whyIncomplete(entered.unentered);
    for (const one of this.all) {
      for (const address of one.addresses) {
        this.#byAddress.set(address, [...(this.#byAddress.get(address) ?? []), one]);
      }
    }
  }

  /** Those in which an address is configured, in its canonical form; those of processes first. */
  withAddress(address: string): readonly Namespace[] {
    return this.#byAddress.get(address) ?? [];
  }

  /** Whether a process runs in the namespace with this id. */
  hasProcess(id: string): boolean {
    return this.#ofProcesses.has(id);
  }

  /** What became of the namespace at a path of the node, as runtimes name it. */
  at(path: string): PathState {
    if (!path.startsWith("/")) return { kind: "unseen" };
    const [, processId] = /^\/proc\/([0-9]+)\//.exec(path) ?? [];
    return processId === undefined ? this.#mountedAt(path) : this.#ofProcess(processId);
  }

  #ofProcess(processId: string): PathState {
    const system = this.#system;
    try {
      const id = system.readLink(`/proc/${processId}/ns/net`);
      // The id of a process that ended may be that of another one by now.
      return id === nodeNamespaceOf(system) ? { kind: "gone" } : { kind: "exists", id };
    } catch (error) {
      if (!isSystemError(error)) throw error;
      const isGone = isSystemError(error, "ENOENT", "ESRCH") && seesHostProcesses(system);
      return { kind: isGone ? "gone" : "unseen" };
    }
  }

  #mountedAt(named: string): PathState {
    const path = named.replace(/^\/var\/run\//, "/run/");
    const mount = this.#mounts.find((one) => one.path === path) ?? this.#namedLike(path);
    if (mount !== undefined) return { kind: "exists", id: mount.id };
    const id = this.#idAt(named);
    if (id !== undefined && id !== "none") return { kind: "exists", id };
    if (this.#seesMounts) return { kind: "gone" };
    // From within a container, what was mounted on the host later looks like a plain file.
    const siblings = this.#mounts.some((one) => parentOf(one.path) === parentOf(path));
    return { kind: siblings && id === undefined ? "gone" : "unseen" };
  }

  /** A directory of the node may be a symbolic link, which cannot be followed from within a container. */
  #namedLike(path: string): Mount | undefined {
    const name = path.slice(path.lastIndexOf("/"));
    return this.#mounts.find((one) => one.reachedAt !== one.path && one.path.endsWith(name));
  }

  /** The namespace at a path as this process sees it; `none` for any other file, `undefined` if there is nothing. */
  #idAt(path: string): string | undefined {
    const system = this.#system;
    try {
      const { device, inode } = system.status(path);
      return device === system.status("/proc/self/ns/net").device ? `net:[${inode}]` : "none";
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return isSystemError(error, "ENOENT", "ENOTDIR") ? undefined : "none";
    }
  }

  /** Enters the namespaces that are only mounted. */
  #enterAll(ofNode: readonly string[]): {
    readonly namespaces: readonly Namespace[];
    readonly unentered: readonly Mount[];
  } {
    const node = nodeNamespaceOf(this.#system);
    const only = new Map<string, Mount>();
    for (const mount of this.#mounts) {
      if (mount.id !== node && !this.#ofProcesses.has(mount.id)) only.set(mount.id, mount);
    }
    const namespaces: Namespace[] = [];
    const failed: Mount[] = [];
    for (const mount of only.values()) {
      const namespace = this.#enter(mount);
      if (namespace === undefined) failed.push(mount);
      else namespaces.push(namespace);
    }
    // Those that were unmounted meanwhile are gone.
    const now = failed.length === 0 ? [] : readMounts(this.#system, ofNode).mounts;
    const ids = new Set(now.map(({ id }) => id));
    return { namespaces, unentered: failed.filter(({ id }) => ids.has(id)) };
  }

  #enter({ id, path, reachedAt }: Mount): Namespace | undefined {
    // Another one may be mounted above it.
    if (this.#idAt(reachedAt) !== id) return undefined;
    const read = (table: string): string =>
      this.#system.readFileIn(reachedAt, `${OWN_TABLES}/${table}`, LARGEST_TABLE);
    const addresses = addressesBy(read);
    return (
      addresses && {
        id,
        processId: undefined,
        path,
        addresses,
        hasInterface: () => hasInterface(() => read("dev")),
      }
    );
  }

  #whyIncomplete([unentered]: readonly Mount[]): string | undefined {
    if (!seesHostProcesses(this.#system)) return "the processes of the node are not seen from here";
    if (!this.#seesMounts) {
      return "the mounts of the node are not seen from here, which takes CAP_SYS_PTRACE";
    }
    if (unentered === undefined) return undefined;
    return `${unentered.path} cannot be entered, which takes CAP_SYS_ADMIN`;
  }
}

function hasInterface(read: () => string): boolean {
  const table = attempt(read, undefined);
  return table === undefined || interfacesIn(table).some((name) => name !== "lo");
}

/**
 * The namespaces that are mounted where this process sees it, the node's first process, or any other of the node that has
 * mounts of its own, as a runtime may.
 */
function readMounts(
  system: OperatorSystem,
  ofNode: readonly string[],
): { readonly mounts: readonly Mount[]; readonly seesNode: boolean } {
  const idOf = (process: string): string | undefined =>
    attempt(() => system.readLink(`/proc/${process}/ns/mnt`), undefined);
  const seen = new Set<string>();
  const mounts = new Map<string, Mount>();
  for (const process of ["self", ...(ofNode.length > 0 ? ["1"] : []), ...ofNode]) {
    const id = idOf(process);
    if (id === undefined || seen.has(id)) continue;
    const path = `/proc/${process}/mountinfo`;
    const text = attempt(() => system.readFile(path, LARGEST_MOUNTINFO), undefined);
    if (text === undefined) continue;
    seen.add(id);
    const root = process === "self" ? "" : `/proc/${process}/root`;
    for (const { namespace, path } of namespaceMounts(text)) {
      const key = `${namespace} ${path}`;
      if (!mounts.has(key)) mounts.set(key, { id: namespace, path, reachedAt: `${root}${path}` });
    }
  }
  // The first process may be protected; the second is the kernel's, and has the same mounts.
  const node = ofNode.length > 0 ? (idOf("1") ?? idOf("2")) : undefined;
  return { mounts: [...mounts.values()], seesNode: node !== undefined && seen.has(node) };
}

const SEPARATOR = " - nsfs ";

/**
 * The network namespaces in `mountinfo`, see proc_pid_mountinfo(5): the fourth field of a line names the namespace, and the
 * fifth the path.
 */
export function namespaceMounts(
  text: string,
): readonly { readonly namespace: string; readonly path: string }[] {
  const found: { namespace: string; path: string }[] = [];
  // Not by lines: there may be thousands of others, and long ones.
  for (let at = text.indexOf(SEPARATOR); at >= 0; at = text.indexOf(SEPARATOR, at + 1)) {
    const line = text.slice(text.lastIndexOf("\n", at) + 1, at);
    const [, , , namespace = "", path = ""] = line.split(" ");
    if (namespace.startsWith("net:")) found.push({ namespace, path: unescaped(path) });
  }
  return found;
}

/** Space, tab, line end and backslash are in octal there. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
