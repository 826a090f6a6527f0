/**
 * What became of the network namespace for which an address was reserved: the one place that says so, for the plugin and
 * for the operator commands.
 */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { attempt, isSystemError, type System } from "../../system/system.ts";
import { parentOf } from "../files/paths.ts";
import { readMounts } from "./mounted-namespaces.ts";
import { readProcessNamespaces } from "./process-namespaces.ts";

/**
 * What became of it, and how that is known: the `reason` is a clause such as `its network namespace /run/netns/cni-1 is
 * gone`. What could not be seen is never `gone`.
 */
export interface NamespaceState {
  readonly kind: "alive" | "gone" | "unseen";
  readonly reason: string;
}

/** Which namespaces there are, by processes and mounts. */
interface Evidence {
  /** Who has each, in words, by the namespace as the kernel names it. */
  readonly holders: ReadonlyMap<string, string>;
  /** Why there may be more; `undefined` where all are seen. */
  readonly incomplete: string | undefined;
}

/**
 * Says what became of namespaces that were recorded before it was made. What there is of processes and mounts it reads once,
 * when it is first asked for.
 */
export class NamespaceStates {
  readonly #system: System;
  #evidence: Evidence | undefined;
  /** Whether paths, in which runtimes mount namespaces, are directories. */
  readonly #directories = new Map<string, boolean>();
  /** The device of all namespaces; `null` where it is not known. */
  #device: bigint | null | undefined;

  constructor(system: System) {
    this.#system = system;
  }

  /**
   * What became of a namespace.
   *
   * @param laterThan gives the namespaces with the same inode that were recorded after it, of other containers: the kernel gives the
   *   lowest free number again at once, and then what has it is none of its own
   */
  stateOf(
    { inode, path }: NetworkNamespace,
    laterThan: () => readonly NetworkNamespace[],
  ): NamespaceState {
    this.#evidence ??= gather(this.#system);
    const { holders, incomplete } = this.#evidence;
    const holder = holders.get(nameOf(inode));
    // A path that is not of a process leads to a namespace by a mount alone, and all of these were seen: nothing is looked at.
    if (incomplete === undefined && holder === undefined && !path.startsWith("/proc/")) {
      const doubt = this.#doubtOn(path);
      return doubt === undefined
        ? { kind: "gone", reason: `its network namespace ${path} is gone` }
        : unseen(path, doubt);
    }
    const found = this.#inodeAt(path);
    if (found.inode === inode) {
      return { kind: "alive", reason: `its network namespace ${path} exists` };
    }
    const doubt = found.unseen ?? this.#doubtOn(path) ?? incomplete;
    if (doubt !== undefined) return unseen(path, doubt);
    const gone = `its network namespace ${path} is gone`;
    if (holder === undefined) return { kind: "gone", reason: gone };
    const heir = laterThan().find(
      (one) => one.inode === inode && this.#inodeAt(one.path).inode === inode,
    );
    return heir === undefined
      ? { kind: "unseen", reason: `${gone}, but ${holder} has one with its number` }
      : { kind: "gone", reason: `${gone}: its number is that of ${heir.path} now` };
  }

  /** The inode of the namespace to which a path leads, if it leads to one; and why that is not known. */
  #inodeAt(path: string): { readonly inode?: string; readonly unseen?: string } {
    const system = this.#system;
    this.#device ??= attempt(() => system.status("/proc/self/ns/net").device, null);
    if (this.#device === null) return { unseen: "/proc is not readable" };
    try {
      const { device, inode } = system.status(path);
      return device === this.#device ? { inode: String(inode) } : {};
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return MISSING.includes(error.code) ? {} : { unseen: error.message };
    }
  }

  #isDirectory(path: string): boolean {
    let isOne = this.#directories.get(path);
    if (isOne === undefined) {
      isOne = attempt(() => this.#system.status(path).kind === "directory", false);
      this.#directories.set(path, isOne);
    }
    return isOne;
  }

  /** Why a path that leads to nothing need not show that the namespace is gone; `undefined` where there is no doubt. */
  #doubtOn(path: string): string | undefined {
    const process = path.startsWith("/proc/") ? path.split("/", 3)[2] : undefined;
    const system = this.#system;
    if (process === undefined) {
      // That of the ADD is there as long as the node is up: this one is another.
      const directory = parentOf(path);
      return this.#isDirectory(directory) ? undefined : `the directory ${directory} is not there`;
    }
    // A process may have closed the descriptor, and kept another.
    if (path === `/proc/${process}/ns/net`) return undefined;
    const isRunning = attempt(() => system.status(`/proc/${process}`), undefined) !== undefined;
    return isRunning ? `process ${process} may have it open elsewhere` : undefined;
  }
}

function unseen(path: string, reason: string): NamespaceState {
  const its = `its network namespace ${path}`;
  return { kind: "unseen", reason: `whether ${its} exists cannot be seen from here: ${reason}` };
}

/** Errors of a path where there is nothing. */
const MISSING: readonly string[] = ["ENOENT", "ENOTDIR", "ESRCH"];

function nameOf(inode: string): string {
  return `net:[${inode}]`;
}

function gather(system: System): Evidence {
  const { processes, ofNode, incomplete } = readProcessNamespaces(system);
  const holders = new Map<string, string>();
  for (const [namespace, id] of processes) holders.set(namespace, `process ${id}`);
  if (incomplete !== undefined) return { holders, incomplete };
  const mounted = readMounts(system, ofNode);
  for (const { id, path } of mounted.mounts) {
    if (!holders.has(id)) holders.set(id, `the mount ${path}`);
  }
  const unseen = mounted.seesNode ? undefined : "the mounts of the node are not seen";
  return { holders, incomplete: mounted.incomplete ?? unseen };
}
