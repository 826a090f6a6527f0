/** What the kernel shows of network namespaces, in memory: mounts on nsfs, and `/proc`. */

import { type FileStatus, SystemError } from "../../src/system/system.ts";

/** The network namespace of the node itself, in which its first process and all that a test starts are. */
const NODE_NAMESPACE = 4026531840n;

/** The directory of namespaces that are mounted. */
const DIRECTORY = "/run/netns";

/** Whether a path is on nsfs or in `/proc`. */
export function isOfKernel(path: string): boolean {
  return /^\/(proc|run)(\/|$)/.test(path);
}

/** A process in a network namespace that is not the node's. */
interface Process {
  readonly namespace: bigint;
  /** Whether its first thread has ended, and another one has not. */
  readonly isZombie: boolean;
}

/**
 * Network namespaces: each lives while it is mounted or has a process. A new one gets the lowest number that none has, that of
 * one that is gone at once.
 */
export class MemoryKernel {
  /** The namespaces that are mounted, by their paths: their numbers. */
  readonly mounts: Map<string, bigint>;
  readonly processes: Map<number, Process>;
  /** The IPv4 addresses in a namespace, by its number. */
  readonly addresses: Map<bigint, readonly string[]>;
  /** Whether `/proc` shows the processes of the node, and not only those of a container. */
  seesProcesses = true;
  /** Whether the mounts of the node are seen, and not only those of a container. */
  seesMounts = true;

  /** @param from what it begins as */
  constructor(from?: MemoryKernel) {
    this.mounts = new Map(from?.mounts);
    this.processes = new Map(from?.processes);
    this.addresses = new Map(from?.addresses);
    this.seesProcesses = from?.seesProcesses ?? true;
    this.seesMounts = from?.seesMounts ?? true;
  }

  /** A new namespace, mounted at a path. */
  mount(path: string): void {
    this.mounts.set(path, this.#lowestFree());
  }

  /** Mounts the namespace that is at a path at another one, too. */
  bind(path: string, at: string): void {
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined) this.mounts.set(at, namespace);
  }

  unmount(path: string): void {
    this.mounts.delete(path);
    this.#forget();
  }

  /** Starts a process in the namespace that is mounted at a path, or in a new one. */
  startProcess(id: number, path?: string, isZombie = false): void {
    const namespace = (path && this.mounts.get(path)) || this.#lowestFree();
    this.processes.set(id, { namespace, isZombie });
  }

  endProcess(id: number): void {
    this.processes.delete(id);
    this.#forget();
  }

  /** Whether a path leads to a namespace. */
  has(path: string): boolean {
    return this.#namespaceAt(path) !== undefined;
  }

  /** Configures an address in the namespace at a path. */
  configure(path: string, address: string): void {
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined) this.addresses.set(namespace, [address]);
  }

  /** Everything that a process can find out, as text. */
  get text(): string {
    const processes = [...this.processes].map(
      ([id, { namespace, isZombie }]) => `${id} ${namespace} ${isZombie}`,
    );
    const seen = [this.seesProcesses, this.seesMounts];
    return [...this.mounts, processes.sort(), ...this.addresses, ...seen].sort().join(" ");
  }

  /** What the kernel tells of a path on nsfs or in `/proc`. */
  status(path: string): FileStatus {
    const times = { size: 0, modified: 0n, changed: 0n };
    const isDirectory = [...this.mounts.keys()].some((mount) => mount.startsWith(`${path}/`));
    if (path === DIRECTORY || isDirectory)
      return { kind: "directory", device: 3n, inode: 1n, ...times };
    const process = Number(/^\/proc\/([0-9]+)$/.exec(path)?.[1]);
    if (process === 1 || this.processes.has(process)) {
      return { kind: "directory", device: 5n, inode: BigInt(process), ...times };
    }
    if (/^\/proc\/(1|self)\/root\/$/.test(path)) {
      return { kind: "directory", device: 1n, inode: 2n, ...times };
    }
    const isOfProcess = path.startsWith("/proc/");
    const isSeen =
      path.startsWith("/proc/self/") || (isOfProcess ? this.seesProcesses : this.seesMounts);
    const inode = isSeen ? this.#namespaceAt(path) : undefined;
    if (inode === undefined) throw new SystemError("stat", path, "ENOENT");
    return { kind: "file", device: 4n, inode, ...times };
  }

  readLink(path: string): string {
    const inode = this.#namespaceAt(path);
    if (inode !== undefined && path.startsWith("/proc/")) return `net:[${inode}]`;
    if (path === "/proc/self/ns/pid") {
      return `pid:[${this.seesProcesses ? 4026531836 : 4026539999}]`;
    }
    if (/^\/proc\/(1|self)\/ns\/mnt$/.test(path)) return "mnt:[4026531841]";
    throw new SystemError("readlink", path, "ENOENT");
  }

  list(path: string): readonly string[] {
    const processes = this.seesProcesses ? [...this.processes.keys()] : [];
    if (path === "/proc") return ["1", "self", "cpuinfo", ...processes.map(String)];
    const process = Number(/^\/proc\/([0-9]+)\/task$/.exec(path)?.[1]);
    if (this.processes.has(process)) return [`${process}`, `${process + 1}`];
    const mounts = [...this.mounts.keys()].filter((mount) => mount.startsWith(`${path}/`));
    if (path !== DIRECTORY && mounts.length === 0) throw new SystemError("open", path, "ENOENT");
    return mounts.map((mount) => mount.slice(path.length + 1));
  }

  /** @param _limit nothing is so long */
  readFile(path: string, _limit: number): string {
    if (/^\/proc\/(1|self)\/mountinfo$/.test(path)) {
      if (!this.seesMounts) return "";
      const lines = [...this.mounts].map(
        ([mount, inode]) => `30 25 0:4 net:[${inode}] ${mount} rw shared:9 - nsfs nsfs rw\n`,
      );
      return lines.join("");
    }
    const [, process, table = ""] =
      /^\/proc\/([0-9]+)(?:\/task\/[0-9]+)?\/net\/(fib_trie|if_inet6)$/.exec(path) ?? [];
    if (process === "1") return "";
    const found = this.processes.get(Number(process));
    if (found === undefined) throw new SystemError("open", path, "ENOENT");
    return this.#table(found.namespace, table);
  }

  /** A table of the namespace at a path. */
  readFileIn(namespace: string, path: string): string {
    const inode = this.mounts.get(namespace);
    if (inode === undefined) throw new SystemError("open", namespace, "ENOENT");
    return this.#table(inode, path);
  }

  #table(namespace: bigint, table: string): string {
    const addresses = this.addresses.get(namespace) ?? [];
    // A main plugin makes an interface in each; as a tap has none, it need not have an address.
    if (table.endsWith("/dev")) return "  lo: 0 0\n  eth0: 0 0\n";
    if (!table.endsWith("fib_trie")) return "";
    return addresses.map((one) => `|-- ${one}\n   /32 host LOCAL\n`).join("");
  }

  /** The number of the namespace to which a path leads. */
  #namespaceAt(path: string): bigint | undefined {
    if (/^\/proc\/(1|self)\/ns\/net$/.test(path)) return NODE_NAMESPACE;
    const [, process, thread] = /^\/proc\/([0-9]+)(?:\/task\/([0-9]+))?\/ns\/net$/.exec(path) ?? [];
    const found = this.processes.get(Number(process));
    if (found === undefined) return this.mounts.get(path);
    const isEnded = found.isZombie && (thread === undefined || thread === process);
    return isEnded ? undefined : found.namespace;
  }

  #lowestFree(): bigint {
    const used = new Set([...this.mounts.values(), ...this.#namespacesOfProcesses()]);
    let number = NODE_NAMESPACE + 1n;
    while (used.has(number)) number++;
    return number;
  }

  #namespacesOfProcesses(): readonly bigint[] {
    return [...this.processes.values()].map(({ namespace }) => namespace);
  }

  /** What was in namespaces that are gone. */
  #forget(): void {
    const used = new Set([...this.mounts.values(), ...this.#namespacesOfProcesses()]);
    for (const number of this.addresses.keys()) {
      if (!used.has(number)) this.addresses.delete(number);
    }
  }
}
