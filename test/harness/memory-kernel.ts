/** Network namespaces in memory: what becomes of them, and their handles. What is shown of them is in proc.ts. */

import { parseAddress } from "../../src/ipam/address.ts";
import { type FileStatus, type NamespaceHandle, SystemError } from "../../src/system/system.ts";
import { type ProcCalls, procOf } from "./proc.ts";

/** The network namespace of the node itself, in which its first process and all that a test starts are. */
const NODE_NAMESPACE = 4026531840n;

/** The capabilities of root, see capabilities(7). */
const ALL_CAPABILITIES = 0x1ffffffffffn;
const DAC_OVERRIDE = 1n << 1n;
const SYS_ADMIN = 1n << 21n;

/** The ids of namespaces that the kernel itself makes are fixed. */
const NODE_ID = 3n;

/** Whether a path is on nsfs or in `/proc`. */
export function isOfKernel(path: string): boolean {
  return /^\/(proc|run)(\/|$)/.test(path);
}

/** Where the first thread of a process is: in the namespace, in that of the node, or nowhere, where it has ended. */
type FirstThread = "there" | "of the node" | "ended";

/** A process in a network namespace that is not the node's. */
interface RunningProcess {
  readonly namespace: bigint;
  /** Where its first thread is; another one is in the namespace. */
  readonly first: FirstThread;
  /** Whether it is in a user namespace of its own. */
  readonly isOfUser?: boolean;
}

/** A map that tells of each change. */
class WatchedMap<Key, Value> extends Map<Key, Value> {
  changed: (() => void) | undefined = undefined;

  override set(key: Key, value: Value): this {
    super.set(key, value);
    this.changed?.();
    return this;
  }

  override delete(key: Key): boolean {
    const isDeleted = super.delete(key);
    this.changed?.();
    return isDeleted;
  }

  override clear(): void {
    super.clear();
    this.changed?.();
  }
}

/**
 * Network namespaces: each lives while it is mounted, has a process or is open. A new one gets the lowest number that none
 * has, that of one that is gone at once, and an id that none had since the boot.
 */
export class MemoryKernel {
  /** The namespaces that are mounted, by their paths: their numbers. */
  readonly mounts: Map<string, bigint>;
  readonly processes: Map<number, RunningProcess>;
  /** The namespaces that a process has open, which neither `/proc` nor the mounts show, by the path at which they were. */
  readonly #opened: Map<string, bigint>;
  /** The IPv4 addresses in a namespace, by its number. */
  readonly addresses: Map<bigint, readonly string[]>;
  /** Whether `/proc` shows the processes of the node, and not only those of a container. */
  seesProcesses = true;
  /** Whether the mounts of the node are seen, and not only those of a container. */
  seesMounts = true;
  /** Whether it gives handles of namespaces, as Linux does since 6.18. */
  hasHandles = false;
  /** Whether a process is in the first user namespace, and whether it has CAP_SYS_ADMIN there. */
  isInFirstUserNamespace = true;
  isAdministrator = true;
  /** Whether a process has CAP_DAC_OVERRIDE, and whether it may look at the first process of the node. */
  overridesPermissions = true;
  seesFirstProcess = true;
  /** Whether a process has mounts of its own, as a systemd unit has, in place of the node's. */
  hasOwnMounts = false;
  /** Whether it tells the addresses of other namespaces, as Linux does since 4.20 to a process with CAP_NET_ADMIN. */
  tellsLinked = true;
  /** Whether main plugins make interfaces with another end in the namespace of the node, as bridge and ptp; not so macvlan. */
  hasOtherEnds = true;
  /** Whether what is configured is in a virtual machine at a tap, and so in no namespace. */
  hasTaps = false;
  /** The ids that the namespace of the node has for others, by their numbers. */
  readonly #links: Map<bigint, number>;
  /** The ids of those that live, by their numbers. */
  #ids: Map<bigint, bigint>;
  #lastId: bigint;

  /** @param from what it begins as */
  constructor(from?: MemoryKernel) {
    const mounts = new WatchedMap(from?.mounts);
    const processes = new WatchedMap(from?.processes);
    const opened = new WatchedMap(from === undefined ? undefined : from.#opened);
    this.mounts = mounts;
    this.processes = processes;
    this.#opened = opened;
    this.addresses = new Map(from?.addresses);
    this.seesProcesses = from?.seesProcesses ?? true;
    this.seesMounts = from?.seesMounts ?? true;
    this.hasHandles = from?.hasHandles ?? false;
    this.isInFirstUserNamespace = from?.isInFirstUserNamespace ?? true;
    this.isAdministrator = from?.isAdministrator ?? true;
    this.overridesPermissions = from?.overridesPermissions ?? true;
    this.seesFirstProcess = from?.seesFirstProcess ?? true;
    this.tellsLinked = from?.tellsLinked ?? true;
    this.hasOtherEnds = from?.hasOtherEnds ?? true;
    this.hasTaps = from?.hasTaps ?? false;
    this.#links = new Map(from === undefined ? [] : from.#links);
    this.hasOwnMounts = from?.hasOwnMounts ?? false;
    this.#ids = new Map(from === undefined ? [[NODE_NAMESPACE, NODE_ID]] : from.#ids);
    this.#lastId = from === undefined ? NODE_ID : from.#lastId;
    for (const map of [mounts, processes, opened]) map.changed = () => this.#settle();
  }

  /** Boots: no other namespace is left, and ids begin again. */
  boot(): void {
    for (const map of [this.mounts, this.processes, this.#opened]) map.clear();
    this.#lastId = NODE_ID;
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
  }

  /** Opens the namespace at a path, as a daemon of the node does that goes on. */
  open(path: string): void {
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined) this.#opened.set(path, namespace);
  }

  /** Closes what was opened at a path. */
  close(path: string): void {
    this.#opened.delete(path);
  }

  /** Starts a process in the namespace that is mounted at a path, or in a new one. */
  startProcess(id: number, path?: string, first: FirstThread = "there"): void {
    const namespace = (path && this.mounts.get(path)) || this.#lowestFree();
    this.processes.set(id, { namespace, first });
  }

  /** Starts a process in the namespace of another one. */
  forkProcess(parent: number, id: number): void {
    const process = this.processes.get(parent);
    if (process !== undefined) this.processes.set(id, process);
  }

  endProcess(id: number): void {
    this.processes.delete(id);
  }

  /** Whether a path leads to a namespace. */
  has(path: string): boolean {
    return this.#namespaceAt(path) !== undefined;
  }

  /** Configures addresses at an interface whose other end is in the namespace of the node, or as `hasOtherEnds` has it. */
  configure(path: string, ...addresses: readonly string[]): void {
    this.configureUnlinked(path, ...addresses);
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined && this.hasOtherEnds) this.#link(namespace);
  }

  /** Configures addresses at an interface without another end, as macvlan makes it, in place of those that there are. */
  configureUnlinked(path: string, ...addresses: readonly string[]): void {
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined && !this.hasTaps) this.addresses.set(namespace, addresses);
  }

  /** Moves what a namespace has to another one. */
  moveAddresses(path: string, to: string): void {
    const from = this.#namespaceAt(path);
    if (from === undefined) return;
    const moved = this.addresses.get(from) ?? [];
    this.addresses.delete(from);
    this.configure(to, ...moved);
  }

  /** The addresses of the namespaces that it tells of. */
  get seenInUse(): readonly string[] {
    if (!this.tellsLinked) return [];
    return [...this.#links.keys()].flatMap((namespace) => this.addresses.get(namespace) ?? []);
  }

  /** The paths at which namespaces with an address are, by address. */
  get pathsByAddress(): ReadonlyMap<string, readonly string[]> {
    const paths = new Map<string, string[]>();
    for (const [path, namespace] of this.mounts) {
      for (const address of this.addresses.get(namespace) ?? []) {
        paths.set(address, [...(paths.get(address) ?? []), path]);
      }
    }
    return paths;
  }

  /** As `System.linkedAddresses` has it. */
  linkedAddresses(family: 4 | 6, but = ""): string {
    const leftOut = this.tellsLinked ? this.#namespaceAt(but) : undefined;
    if (leftOut !== undefined) this.#link(leftOut);
    const linked = this.tellsLinked ? [...this.#links] : [];
    const lines: string[] = [];
    for (const [namespace, id] of [[NODE_NAMESPACE, "-"] as const, ...linked]) {
      if (namespace === leftOut) continue;
      for (const text of this.addresses.get(namespace) ?? []) {
        const address = parseAddress(text);
        if (address?.family === family) lines.push(`${address.value.toString(16)} ${id}\n`);
      }
    }
    return lines.join("");
  }

  /** As `OperatorSystem.namespaceId` has it. */
  namespaceId(path: string): number | undefined {
    const namespace = this.#namespaceAt(path);
    if (namespace === undefined) throw new SystemError("open", path, "ENOENT");
    return this.#links.get(namespace);
  }

  #link(namespace: bigint): void {
    if (this.#links.has(namespace) || namespace === NODE_NAMESPACE) return;
    const used = new Set(this.#links.values());
    let id = 0;
    while (used.has(id)) id++;
    this.#links.set(namespace, id);
  }

  /** Everything that a process can find out, as text. */
  get text(): string {
    const processes = [...this.processes].map(
      ([id, { namespace, first }]) => `${id} ${namespace} ${first}`,
    );
    const seen = [
      ...[this.seesProcesses, this.seesMounts, this.isInFirstUserNamespace, this.isAdministrator],
      ...[this.overridesPermissions, this.seesFirstProcess, this.hasOwnMounts],
      ...[this.tellsLinked, this.hasOtherEnds, this.hasTaps],
    ];
    const links = [...this.#links].map(([number, id]) => `link ${number} ${id}`);
    const all = [...this.mounts, processes.sort(), ...this.addresses, ...links.sort()].sort();
    return [...all, ...seen, ...this.#textOfHandles].join(" ");
  }

  get #textOfHandles(): readonly string[] {
    if (!this.hasHandles) return [];
    return [`${this.#lastId}`, `${[...this.#ids].sort()}`, `${[...this.#opened].sort()}`];
  }

  /** What `name_to_handle_at(2)` gives for a path. */
  handleAt(path: string): NamespaceHandle | undefined {
    const { kind, inode } = this.status(path);
    const id = kind === "file" && this.hasHandles ? this.#ids.get(inode) : undefined;
    return id === undefined ? undefined : { id: `${id}`, inode };
  }

  /** Whether `open_by_handle_at(2)` finds a namespace; by the rule of Linux 6.19, which is the strictest. */
  lives({ id, inode }: NamespaceHandle): boolean {
    // It does not know the root of nsfs.
    if (!this.hasHandles) throw new SystemError("open_by_handle_at", "nsfs", "EBADF");
    const seesAll = this.isInFirstUserNamespace && this.isAdministrator && this.seesProcesses;
    return seesAll && this.#ids.get(inode) === BigInt(id);
  }

  /** What the kernel tells of a path on nsfs or in `/proc`. */
  status(path: string): FileStatus {
    if (path === "/proc/1/root/") this.#requireFirstProcess(path);
    return this.#shown.status(path);
  }

  readLink(path: string): string {
    if (path === "/proc/1/ns/mnt") this.#requireFirstProcess(path);
    return this.#shown.readLink(path);
  }

  list(path: string): readonly string[] {
    return this.#shown.list(path);
  }

  readFile(path: string, limit: number): string {
    return this.#shown.readFile(path, limit);
  }

  /** A table of the namespace at a path. */
  readFileIn(namespace: string, path: string, limit: number): string {
    return this.#shown.readFileIn(namespace, path, limit);
  }

  #requireFirstProcess(path: string): void {
    if (!this.seesFirstProcess) throw new SystemError("open", path, "EACCES");
  }

  /** What a process in the network namespace of the node is shown. */
  get #shown(): ProcCalls {
    const addressesIn = (namespace: bigint): readonly string[] =>
      this.addresses.get(namespace) ?? [];
    const first = {
      namespace: Number(NODE_NAMESPACE),
      addresses: addressesIn(NODE_NAMESPACE),
    };
    const caller = {
      ...first,
      ...(this.isInFirstUserNamespace ? {} : { userNamespace: 4026539998 }),
      ...(this.hasOwnMounts ? { mountNamespace: 4026539997 } : {}),
    };
    const seen = this.seesProcesses ? [...this.processes] : [];
    const processes = seen.map(([id, { namespace, first: thread, isOfUser }]) => {
      const shown = thread === "of the node" ? NODE_NAMESPACE : namespace;
      const user = isOfUser === true ? { userNamespace: 4026539996 } : {};
      return [id, { namespace: Number(shown), addresses: addressesIn(shown), ...user }] as const;
    });
    const idsOf = (where: FirstThread): readonly (readonly [id: number, namespace: bigint])[] =>
      seen.flatMap(([id, process]) =>
        process.first === where ? [[id, process.namespace] as const] : [],
      );
    const mounts = this.seesMounts ? [...this.mounts] : [];
    return procOf({
      nodeNamespace: Number(NODE_NAMESPACE),
      caller,
      processes: { 1: first, ...Object.fromEntries(processes) },
      zombies: Object.fromEntries(idsOf("ended").map(([id]) => [id, id + 1])),
      threads: Object.fromEntries(
        idsOf("of the node").map(([id, namespace]) => [`${id}/task/${id + 1}`, Number(namespace)]),
      ),
      isContained: !this.seesProcesses,
      capabilities:
        ALL_CAPABILITIES &
        ~(this.isAdministrator ? 0n : SYS_ADMIN) &
        ~(this.overridesPermissions ? 0n : DAC_OVERRIDE),
      mounted: Object.fromEntries(mounts.map(([path, namespace]) => [path, Number(namespace)])),
      addresses: Object.fromEntries(this.addresses),
      // A main plugin makes an interface in each; as a tap has none, it need not have an address.
      isConnected: true,
    });
  }

  /** The number of the namespace to which a path leads. */
  #namespaceAt(path: string): bigint | undefined {
    if (/^\/proc\/(1|self)\/ns\/net$/.test(path)) return NODE_NAMESPACE;
    const [, process, thread] = /^\/proc\/([0-9]+)(?:\/task\/([0-9]+))?\/ns\/net$/.exec(path) ?? [];
    const found = this.processes.get(Number(process));
    if (found === undefined) return this.mounts.get(path);
    if (thread !== undefined && thread !== process) return found.namespace;
    if (found.first === "of the node") return NODE_NAMESPACE;
    return found.first === "ended" ? undefined : found.namespace;
  }

  #lowestFree(): bigint {
    const used = this.#used();
    let number = NODE_NAMESPACE + 1n;
    while (used.has(number)) number++;
    return number;
  }

  /** The numbers of those that live. */
  #used(): ReadonlySet<bigint> {
    const ofProcesses = [...this.processes.values()].map(({ namespace }) => namespace);
    const mounted = this.mounts.values();
    return new Set([NODE_NAMESPACE, ...mounted, ...ofProcesses, ...this.#opened.values()]);
  }

  /** Gives a new namespace its id, and forgets what was in those that are gone. */
  #settle(): void {
    const used = this.#used();
    for (const known of [this.#ids, this.addresses, this.#links]) {
      for (const number of known.keys()) if (!used.has(number)) known.delete(number);
    }
    for (const number of used) if (!this.#ids.has(number)) this.#ids.set(number, ++this.#lastId);
  }
}
