/** The network namespaces of the node, each looked at once: the kernel knows which addresses are in use. */

import { attempt, recover, type System } from "../../system/system.ts";
import { parentOf } from "../files/paths.ts";
import { ListedDirectories, nameIn } from "./listed-directories.ts";
import { type Mount, readMounts } from "./mounted-namespaces.ts";
import {
  addressesBy,
  ENDED,
  LARGEST_TABLE,
  nodeNamespaceOf,
  readProcesses,
  seesHostProcesses,
} from "./process-namespaces.ts";

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

/** A namespace that could not be looked at, and why, in a clause. */
interface Unentered {
  readonly id: string;
  readonly reason: string;
}

/** Where the kernel tells of the network namespace of the process that reads. */
const OWN_TABLES = "/proc/self/net";

/**
 * All that is seen from here of the network namespaces, read once: those of processes, and those that are only mounted,
 * which are entered.
 */
export class Namespaces {
  readonly all: readonly Namespace[];
  /** Why there may be more; `undefined` where all are seen. */
  readonly incomplete: string | undefined;
  readonly #system: System;
  readonly #mounts: readonly Mount[];
  readonly #byPath: ReadonlyMap<string, Mount>;
  /** Those that are not reached at their paths, by their names. */
  readonly #elsewhere: ReadonlyMap<string, Mount>;
  readonly #states = new Map<string, PathState>();
  readonly #directories: ListedDirectories;
  /** The addresses of the node itself, as far as its processes are seen. */
  readonly nodeAddresses: ReadonlySet<string>;
  /** Whether the mounts of the node are seen, not only those of a container. */
  readonly #seesMounts: boolean;
  /** The directories of namespaces that a container has of the node. */
  readonly #shared: readonly string[];
  readonly #byAddress = new Map<string, readonly Namespace[]>();
  readonly #ofProcesses = new Set<string>();
  #byId: ReadonlyMap<string, Namespace> | undefined;

  constructor(system: System) {
    this.#system = system;
    this.#directories = new ListedDirectories(system);
    const { namespaces, ofNode, nodeAddresses, incomplete } = readProcesses(system);
    this.nodeAddresses = nodeAddresses;
    const mounted = readMounts(system, ofNode);
    this.#mounts = mounted.mounts;
    // The first of several.
    const mounts = mounted.mounts.toReversed();
    this.#byPath = new Map(mounts.map((one) => [one.path, one]));
    const elsewhere = mounts.filter(({ reachedAt, path }) => reachedAt !== path);
    this.#elsewhere = new Map(elsewhere.map((one) => [nameIn(one.path), one]));
    this.#seesMounts = mounted.seesNode;
    this.#shared = mounted.shared;
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
    this.incomplete = incomplete ?? mounted.incomplete ?? this.#whyIncomplete(entered.unentered);
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

  /** The one with an id, as the kernel names it. */
  withId(id: string): Namespace | undefined {
    this.#byId ??= new Map(
      this.all.flatMap((one) => (one.id === undefined ? [] : [[one.id, one]])),
    );
    return this.#byId.get(id);
  }

  /** The addresses that several have; not those that every namespace has, of the loopback interface or link-local. */
  get inSeveral(): readonly (readonly [address: string, namespaces: readonly Namespace[]])[] {
    return [...this.#byAddress].filter(([address, all]) => all.length > 1 && !isLocal(address));
  }

  /** What became of the namespace at a path of the node, as runtimes name it. */
  at(path: string): PathState {
    const known = this.#states.get(path);
    if (known !== undefined) return known;
    const state = this.#stateOf(path);
    this.#states.set(path, state);
    return state;
  }

  #stateOf(path: string): PathState {
    if (!path.startsWith("/")) return { kind: "unseen" };
    const processId = processIn(path);
    return processId === undefined ? this.#mountedAt(path) : this.#ofProcess(processId);
  }

  #ofProcess(processId: string): PathState {
    const system = this.#system;
    const look = (): PathState => {
      const id = system.readLink(`/proc/${processId}/ns/net`);
      // The id of a process that ended may be that of another one by now.
      return id === nodeNamespaceOf(system) ? { kind: "gone" } : { kind: "exists", id };
    };
    return recover(look, ({ code }): PathState => {
      const isGone = ENDED.includes(code) && seesHostProcesses(system);
      return { kind: isGone ? "gone" : "unseen" };
    });
  }

  #mountedAt(named: string): PathState {
    const path = named.startsWith("/var/run/") ? named.slice("/var".length) : named;
    // A directory of the node may be a symbolic link, which cannot be followed from within a container.
    const mount = this.#byPath.get(path) ?? this.#elsewhere.get(nameIn(path));
    if (mount !== undefined) return { kind: "exists", id: mount.id };
    const look = (): string | undefined => this.#idAt(named);
    const id = this.#directories.lack(named) ? undefined : recover(look, () => "unseen");
    if (id === "unseen") return { kind: "unseen" };
    if (id !== undefined && id !== "none") return { kind: "exists", id };
    // A descriptor may be closed while the namespace lives.
    if (path.startsWith("/proc/")) return { kind: "unseen" };
    if (this.#seesMounts) return { kind: "gone" };
    // From within a container, what was mounted on the host later looks like a plain file.
    const directory = parentOf(path);
    const isOfNode =
      this.#shared.includes(directory) ||
      this.#mounts.some((one) => parentOf(one.path) === directory);
    return { kind: isOfNode && id === undefined ? "gone" : "unseen" };
  }

  /**
   * The namespace at a path as this process sees it; `none` for any other file, `undefined` if there is nothing.
   *
   * @throws SystemError where that cannot be seen
   */
  #idAt(path: string): string | undefined {
    const system = this.#system;
    const found = attempt(() => system.status(path), undefined, "ENOENT", "ENOTDIR");
    if (found === undefined) return undefined;
    const { device } = system.status("/proc/self/ns/net");
    return found.device === device ? `net:[${found.inode}]` : "none";
  }

  /** Enters the namespaces that are only mounted. */
  #enterAll(ofNode: readonly string[]): {
    readonly namespaces: readonly Namespace[];
    readonly unentered: readonly Unentered[];
  } {
    const node = nodeNamespaceOf(this.#system);
    const others = this.#mounts.filter(({ id }) => id !== node && !this.#ofProcesses.has(id));
    const namespaces: Namespace[] = [];
    const failed: Unentered[] = [];
    for (const [id, mounts] of Map.groupBy(others, (one) => one.id)) {
      const reasons: string[] = [];
      // One of several paths will do; those of this process and of the first one come first.
      const found = mounts.reduce<Namespace | undefined>(
        (known, mount) => known ?? this.#enter(mount, reasons),
        undefined,
      );
      if (found !== undefined) namespaces.push(found);
      else failed.push({ id, reason: reasons[0] ?? "" });
    }
    // Those that were unmounted meanwhile are gone.
    const now = failed.length === 0 ? [] : readMounts(this.#system, ofNode).mounts;
    const ids = new Set(now.map(({ id }) => id));
    return { namespaces, unentered: failed.filter(({ id }) => ids.has(id)) };
  }

  /** @param reasons gets the one why it could not be entered */
  #enter({ id, path, reachedAt }: Mount, reasons: string[]): Namespace | undefined {
    const read = (table: string): string =>
      this.#system.readFileIn(reachedAt, `${OWN_TABLES}/${table}`, LARGEST_TABLE);
    const refused = (reason: string): undefined => {
      reasons.push(`${path} ${reason}`);
    };
    const enter = (): Namespace | undefined => {
      if (this.#idAt(reachedAt) !== id) return refused("is covered by another mount");
      const addresses = addressesBy(read);
      if (addresses === undefined) return refused("has no table of addresses");
      const isBusy = (): boolean => hasInterface(() => read("dev"));
      return { id, processId: undefined, path, addresses, hasInterface: isBusy };
    };
    return recover(enter, ({ code, message }) =>
      refused(
        `cannot be entered${code === "EPERM" ? ", which takes CAP_SYS_ADMIN" : `: ${message}`}`,
      ),
    );
  }

  #whyIncomplete([unentered]: readonly Unentered[]): string | undefined {
    if (!seesHostProcesses(this.#system)) return "the processes of the node are not seen from here";
    if (!this.#seesMounts) {
      return "the mounts of the node are not seen from here, which takes CAP_SYS_PTRACE";
    }
    return unentered?.reason;
  }
}

/** Whether an address is one that every namespace has: of the loopback interface, or link-local. */
export function isLocal(address: string): boolean {
  return address.startsWith("127.") || address === "::1" || address.startsWith("fe80:");
}

/** The process whose namespace a path is. */
export function processIn(path: string): string | undefined {
  return /^\/proc\/([0-9]+)\/ns\/net$/.exec(path)?.[1];
}

function hasInterface(read: () => string): boolean {
  const table = attempt(read, undefined);
  return table === undefined || interfacesIn(table).some((name) => name !== "lo");
}

/**
 * The interfaces in `dev`, below two lines of headings.
 *
 * @example interfacesIn("Inter-| Receive\n face |bytes\n    lo:  0  0\n"); // ["lo"]
 */
function interfacesIn(table: string): readonly string[] {
  return [...table.matchAll(/^ *([^\s:|]+):/gm)].map(([, name = ""]) => name);
}
