/**
 * What became of the network namespace for which an address was reserved: the one place that says so, for the plugin and
 * for the operator commands.
 */

import type { NetworkNamespace } from "../../cni/network-namespace.ts";
import { attempt, recover, type System, SystemError } from "../../system/system.ts";
import { parentOf } from "../files/paths.ts";
import { ListedDirectories } from "./listed-directories.ts";
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
 * Says what became of namespaces that were recorded before it was made. Processes, mounts and the directories of their
 * paths it reads once, when it is first asked for: then a thousand that are gone take no system call each.
 */
export class NamespaceStates {
  readonly #system: System;
  #evidence: Evidence | undefined;
  /** The device of all namespaces; `null` where it is not known. */
  #device: bigint | null | undefined;
  readonly #directories: ListedDirectories;

  constructor(system: System) {
    this.#system = system;
    this.#directories = new ListedDirectories(system);
  }

  /**
   * What became of a namespace.
   *
   * @param laterThan gives the namespaces with the same inode that were recorded after it, of other containers: the kernel
   *   gives the lowest free number again at once, and then what has it is none of its own
   */
  stateOf(
    { inode, path }: NetworkNamespace,
    laterThan: () => Iterable<NetworkNamespace>,
  ): NamespaceState {
    // Of thousands, nearly all are missing where their directory was listed.
    if (!this.#isMissing(path)) {
      const found = this.#inodeAt(path);
      if (found.inode === inode) return { kind: "alive", reason: `${its(path)} exists` };
      const doubt = found.unseen ?? this.#doubtOn(path);
      if (doubt !== undefined) return unseen(path, doubt);
    }
    const { holders, incomplete } = this.#evidenceNow;
    if (incomplete !== undefined) return unseen(path, incomplete);
    const holder = holders.get(nameOf(inode));
    if (holder === undefined) return { kind: "gone", reason: `${its(path)} is gone` };
    const heir = this.#heirOf(inode, laterThan);
    if (heir === undefined) {
      return {
        kind: "unseen",
        reason: `${its(path)} is gone, but ${holder} has one with its number`,
      };
    }
    return { kind: "gone", reason: `${its(path)} is gone: its number is that of ${heir.path} now` };
  }

  /**
   * Whether a namespace is gone. For each of thousands that are not, no system call is made.
   *
   * @param laterThan gives what `stateOf` asks for
   */
  isGone(one: NetworkNamespace, laterThan: () => Iterable<NetworkNamespace>): boolean {
    if (this.#evidenceNow.incomplete !== undefined) return false;
    if (this.isHeld(one.inode) && this.#heirOf(one.inode, laterThan) === undefined) return false;
    return this.stateOf(one, laterThan).kind === "gone";
  }

  /** Whether a process or a mount has a namespace with this number, as far as that is seen. */
  isHeld(inode: string): boolean {
    return this.#evidenceNow.holders.has(nameOf(inode));
  }

  /** Whether a namespace is at its path, as far as that is seen. */
  isThere({ inode, path }: NetworkNamespace): boolean {
    return !this.#isMissing(path) && this.#inodeAt(path).inode === inode;
  }

  get #evidenceNow(): Evidence {
    this.#evidence ??= gather(this.#system);
    return this.#evidence;
  }

  /** One that has the number by now. */
  #heirOf(
    inode: string,
    laterThan: () => Iterable<NetworkNamespace>,
  ): NetworkNamespace | undefined {
    for (const one of laterThan()) {
      if (one.inode === inode && this.isThere(one)) return one;
    }
    return undefined;
  }

  /** The inode of the namespace to which a path leads, if it leads to one; and why that is not known. */
  #inodeAt(path: string): { readonly inode?: string; readonly unseen?: string } {
    const system = this.#system;
    if (this.#deviceNow() === null) return { unseen: "/proc is not readable" };
    const look = (): { readonly inode?: string } => {
      const { device, inode } = system.status(path);
      return device === this.#device ? { inode: String(inode) } : {};
    };
    return recover(look, ({ code, message }) =>
      MISSING.includes(code) ? {} : { unseen: message },
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
    const process = isOfProcess(path) ? path.split("/")[2] : undefined;
    const system = this.#system;
    if (process === undefined) {
      // That of the ADD is there as long as the node is up: this one is another.
      const directory = parentOf(path);
      const names = this.#directories.namesIn(directory);
      if (!(names instanceof SystemError)) return undefined;
      return MISSING.includes(names.code)
        ? `the directory ${directory} is not there`
        : names.message;
    }
    // A process may have closed the descriptor, and kept another.
    if (path === `/proc/${process}/ns/net`) return undefined;
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

function its(path: string): string {
  return `its network namespace ${path}`;
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
