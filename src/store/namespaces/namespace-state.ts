/**
 * What became of the network namespace for which an address was reserved: the one place that says so, for the plugin and
 * for the operator commands. Since Linux 6.18 the kernel answers by the namespace's handle; else processes, mounts and paths
 * tell, as far as they are seen from here.
 */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { attempt, recover, type System, SystemError } from "../../system/system.ts";
import { parentOf } from "../files/paths.ts";
import { ListedDirectories, nameIn } from "./listed-directories.ts";
import { seesAllNamespaces, seesHostProcesses } from "./sight.ts";
import { lookAround, type Mount, namespaceName, nodeNamespaceOf, type View } from "./view.ts";

/**
 * What became of it, and how that is known: the `reason` is a clause such as `its network namespace /run/netns/cni-1 is
 * gone`. What could not be seen is never `gone`.
 */
export interface NamespaceState {
  readonly kind: "alive" | "gone" | "unseen";
  readonly reason: string;
  /** Whether it lives, and is not at its path any more. */
  readonly hasLeft?: boolean;
}

/** What became of a namespace of which only the path is known; `id` is the one that is there, as the kernel names it. */
export type PathState =
  | { readonly kind: "exists"; readonly id: string }
  | { readonly kind: "gone" | "unseen" };

/** What a path leads to now; or why that could not be seen, in a clause. */
type Found =
  | { readonly kind: "exists"; readonly id: string }
  | { readonly kind: "nothing" }
  | { readonly kind: "unseen"; readonly reason: string };

/** Which namespaces there are, by processes and mounts. */
interface Evidence {
  /** Who has each, in words, by the namespace as the kernel names it. */
  readonly holders: ReadonlyMap<string, string>;
  /** Why there may be more; `undefined` where all are seen. */
  readonly incomplete: string | undefined;
}

/**
 * Says what became of namespaces that were recorded before it was made. What it looks at besides their handles it reads once,
 * when it is first asked for: then a thousand that are gone take no further system call each.
 */
export class NamespaceStates {
  readonly #system: System;
  readonly #directories: ListedDirectories;
  readonly #look: () => View;
  #view: View | undefined;
  #mounts: MountedPaths | undefined;
  #evidence: Evidence | undefined;
  #seesAll: boolean | undefined;
  /** The device of all namespaces; `null` where it is not known. */
  #device: bigint | null | undefined;

  /** @param look gives what is seen of the node, no earlier than the namespaces were recorded */
  constructor(system: System, look: () => View = () => lookAround(system)) {
    this.#system = system;
    this.#look = look;
    this.#directories = new ListedDirectories(system);
  }

  /**
   * What became of a namespace.
   *
   * @param laterThan gives the namespaces with the same inode that were recorded after it, of other containers: the kernel
   *   gives the lowest free number again at once, and then what has it is none of its own
   */
  stateOf(
    namespace: NetworkNamespace,
    laterThan: () => Iterable<NetworkNamespace>,
  ): NamespaceState {
    const { id, inode, path } = namespace;
    const lives = this.#lives(namespace);
    if (lives === true) return this.#aliveByHandle(namespace);
    if (lives === false) return gone(path);
    // Nearly all of thousands of namespaces are missing where their directory was listed.
    if (!this.#isMissing(path)) {
      const found = this.#lookAt(path);
      if (found.kind === "exists" && found.id === namespaceName(inode)) return alive(path);
      const doubt = found.kind === "unseen" ? found.reason : this.#doubtOn(path);
      // The list of mounts shows the namespace even where its path cannot be looked at.
      if (doubt !== undefined)
        return this.#isMounted(namespace) ? alive(path) : unseen(path, doubt);
    }
    const { holders, incomplete } = this.#evidenceNow();
    if (this.#isMounted(namespace)) return alive(path);
    if (incomplete !== undefined) return unseen(path, incomplete);
    const holder = holders.get(namespaceName(inode));
    if (holder === undefined) return id === undefined ? gone(path) : unseen(path, NOT_ASKED);
    const heir = this.#heirOf(inode, laterThan);
    if (heir !== undefined) return gone(path, `: its number is that of ${heir.path} now`);
    return {
      kind: "unseen",
      reason: `${its(path)} is gone, but ${holder} has one with its number`,
    };
  }

  /**
   * Whether a namespace is gone. Each of thousands that are not, or not known to be, costs one system call, or none where the
   * kernel gives no handles.
   *
   * @param laterThan gives what `stateOf` asks for
   */
  isGone(namespace: NetworkNamespace, laterThan: () => Iterable<NetworkNamespace>): boolean {
    const lives = this.#lives(namespace);
    if (lives !== undefined) return !lives;
    if (this.#evidenceNow().incomplete !== undefined) return false;
    const isHeld = this.isHeld(namespace.inode);
    if (!isHeld && namespace.id !== undefined) return false;
    if (isHeld && this.#heirOf(namespace.inode, laterThan) === undefined) return false;
    return this.stateOf(namespace, laterThan).kind === "gone";
  }

  /** Whether a process or a mount has a namespace with this number, as far as that is seen. */
  isHeld(inode: string): boolean {
    return this.#evidenceNow().holders.has(namespaceName(inode));
  }

  /** Whether a namespace is at its path, as far as that is seen. */
  isThere({ inode, path }: NetworkNamespace): boolean {
    if (this.#isMissing(path)) return false;
    const found = this.#lookAt(path);
    return found.kind === "exists" && found.id === namespaceName(inode);
  }

  /** What became of the namespace at a path of the node, as libcni's cache names it. */
  at(path: string): PathState {
    if (!path.startsWith("/")) return { kind: "unseen" };
    const mount = this.#mountsNow().at(path);
    if (mount !== undefined) return { kind: "exists", id: mount.id };
    const paths = namesOf(path);
    const found = paths.map((name) => this.#findAt(name)).find(isSomething) ?? { kind: "nothing" };
    // The id of a process that ended may be another's by now.
    if (processIn(path) !== undefined && found.kind === "exists") {
      if (found.id === nodeNamespaceOf(this.#system)) return { kind: "gone" };
    }
    if (found.kind !== "nothing") return found;
    if (isOfProcess(path)) {
      // A descriptor may be closed while the namespace lives.
      const isEnded = processIn(path) !== undefined && seesHostProcesses(this.#system);
      return { kind: isEnded ? "gone" : "unseen" };
    }
    const { seesMounts, shared, mounts } = this.#viewNow();
    const directories = paths.map(parentOf);
    // Later mounts of the node are not seen from within a container, except in a directory of the node.
    const isSeen =
      seesMounts ||
      shared.some((directory) => directories.includes(directory)) ||
      mounts.some((mount) => directories.includes(parentOf(mount.path)));
    return { kind: isSeen ? "gone" : "unseen" };
  }

  /** What is said of a namespace that lives by its handle: anything may hold it, not only a mount at its path. */
  #aliveByHandle(namespace: NetworkNamespace): NamespaceState {
    const { inode, path } = namespace;
    if (this.isThere(namespace)) return alive(path);
    const there = this.at(path);
    const id = namespaceName(inode);
    if (there.kind === "unseen" || (there.kind === "exists" && there.id === id)) return alive(path);
    const left = there.kind === "gone" ? "is gone" : "leads to another one";
    const reason = `its network namespace ${id} lives, though ${path} ${left}`;
    return { kind: "alive", reason, hasLeft: true };
  }

  /**
   * Whether a namespace lives, by its handle; `undefined` where the kernel does not tell. With a handle, the reason is that
   * this process may not ask; a descriptor may then hold what processes and mounts do not show.
   */
  #lives({ id, inode }: NetworkNamespace): boolean | undefined {
    if (id === undefined) return undefined;
    const ask = (): boolean => this.#system.namespaceLives({ id, inode: BigInt(inode) });
    const lives = attempt(ask, undefined);
    // A process that may not see the namespace gets the same answer as for one that is gone.
    if (lives !== false) return lives;
    this.#seesAll ??= seesAllNamespaces(this.#system);
    return this.#seesAll ? false : undefined;
  }

  /** Whether a namespace is mounted at its path, wherever that is seen. */
  #isMounted({ inode, path }: NetworkNamespace): boolean {
    return this.#mountsNow().at(path)?.id === namespaceName(inode);
  }

  #viewNow(): View {
    this.#view ??= this.#look();
    return this.#view;
  }

  #evidenceNow(): Evidence {
    this.#evidence ??= evidenceOf(this.#viewNow());
    return this.#evidence;
  }

  #mountsNow(): MountedPaths {
    this.#mounts ??= new MountedPaths(this.#viewNow().mounts);
    return this.#mounts;
  }

  /** The namespace that has the number by now. */
  #heirOf(
    inode: string,
    laterThan: () => Iterable<NetworkNamespace>,
  ): NetworkNamespace | undefined {
    for (const later of laterThan()) {
      if (later.inode === inode && this.isThere(later)) return later;
    }
    return undefined;
  }

  #findAt(path: string): Found {
    return this.#isMissing(path) ? { kind: "nothing" } : this.#lookAt(path);
  }

  /** What a path leads to, as this process sees it. */
  #lookAt(path: string): Found {
    const system = this.#system;
    if (this.#deviceNow() === null) return { kind: "unseen", reason: "/proc is not readable" };
    const look = (): Found => {
      const { device, inode } = system.status(path);
      if (device === this.#device) return { kind: "exists", id: namespaceName(inode) };
      // A runtime may mount the namespace on this file, in a mount namespace in which no process runs just now.
      return { kind: "unseen", reason: `${path} is no namespace, and it may be mounted elsewhere` };
    };
    return recover(
      look,
      ({ code, message }): Found =>
        MISSING.includes(code) ? { kind: "nothing" } : { kind: "unseen", reason: message },
    );
  }

  #deviceNow(): bigint | null {
    if (this.#device === undefined) {
      this.#device = attempt(() => this.#system.status("/proc/self/ns/net").device, null);
    }
    return this.#device;
  }

  /** Why a path that leads to nothing need not show that the namespace is gone; `undefined` where there is no doubt. */
  #doubtOn(path: string): string | undefined {
    const system = this.#system;
    if (!isOfProcess(path)) {
      // The directory of the ADD stays as long as the node is up: where it is missing, this process does not see that one.
      const directory = parentOf(path);
      const names = this.#directories.namesIn(directory);
      if (!(names instanceof SystemError)) return undefined;
      return MISSING.includes(names.code)
        ? `the directory ${directory} is not there`
        : names.message;
    }
    // The process may have closed this descriptor, and kept another.
    if (processIn(path) !== undefined) return undefined;
    const process = path.split("/")[2];
    const doubt = (): string => {
      system.status(`/proc/${process}`);
      return `process ${process} may have it open elsewhere`;
    };
    return recover(doubt, ({ code, message }) => (MISSING.includes(code) ? undefined : message));
  }

  /** Whether the directory of a path, other than those of processes, is there without it, and namespaces are seen at all. */
  #isMissing(path: string): boolean {
    return !isOfProcess(path) && this.#deviceNow() !== null && this.#directories.lack(path);
  }
}

/** The namespaces that are mounted, by their paths. */
class MountedPaths {
  readonly #byPath: ReadonlyMap<string, Mount>;
  /** The mounts that are not reached at their paths, by their names. */
  readonly #elsewhere: ReadonlyMap<string, Mount>;

  constructor(mounts: readonly Mount[]) {
    // The order is reversed, so that the first of several mounts at a path counts.
    const last = mounts.toReversed();
    this.#byPath = new Map(last.map((mount) => [mount.path, mount]));
    const elsewhere = last.filter(({ reachedAt, path }) => reachedAt !== path);
    this.#elsewhere = new Map(elsewhere.map((mount) => [nameIn(mount.path), mount]));
  }

  /** The mount at a path of the node. */
  at(named: string): Mount | undefined {
    const path = namesOf(named).at(-1) ?? named;
    // A directory of the node may be a symbolic link, which cannot be followed from within a container.
    return this.#byPath.get(path) ?? this.#elsewhere.get(nameIn(path));
  }
}

function evidenceOf({ tasks, uninspected, mounts, incomplete }: View): Evidence {
  const holders = new Map<string, string>();
  for (const [id, [task]] of tasks) holders.set(id, `process ${task?.processId}`);
  for (const { id, path } of mounts) if (!holders.has(id)) holders.set(id, `the mount ${path}`);
  const [unknown] = uninspected;
  const doubt = unknown && `process ${unknown.processId} may not be inspected`;
  return { holders, incomplete: doubt ?? incomplete };
}

/** A path of the node, and where it leads if `/var/run` is a link to `/run`, as it is on nodes and need not be in a container. */
function namesOf(path: string): readonly string[] {
  return path.startsWith("/var/run/") ? [path, path.slice("/var".length)] : [path];
}

function isSomething({ kind }: Found): boolean {
  return kind !== "nothing";
}

/** The process whose namespace a path is. */
export function processIn(path: string): string | undefined {
  return /^\/proc\/([0-9]+)\/ns\/net$/.exec(path)?.[1];
}

const NOT_ASKED =
  "a descriptor alone may hold it, of which the kernel tells only who has CAP_SYS_ADMIN on the node";

function its(path: string): string {
  return `its network namespace ${path}`;
}

function alive(path: string): NamespaceState {
  return { kind: "alive", reason: `${its(path)} exists` };
}

function gone(path: string, why = ""): NamespaceState {
  return { kind: "gone", reason: `${its(path)} is gone${why}` };
}

function unseen(path: string, reason: string): NamespaceState {
  const text = `whether ${its(path)} exists cannot be seen from here: ${reason}`;
  return { kind: "unseen", reason: text };
}

function isOfProcess(path: string): boolean {
  return path.startsWith("/proc/");
}

/** Errors of a path where there is nothing. */
const MISSING: readonly string[] = ["ENOENT", "ENOTDIR", "ESRCH"];
