/** Network namespaces in memory, their lives and their handles. proc.ts shows them to processes. */

import { parseAddress } from "../../src/ipam/address.ts";
import { type FileStatus, type NamespaceHandle, SystemError } from "../../src/system/system.ts";
import { type ProcCalls, procOf } from "./proc.ts";

/** The network namespace of the node itself, which its first process and everything that a test starts are in. */
const NODE_NAMESPACE = 4026531840n;

/** The capabilities of root, see capabilities(7). */
const ALL_CAPABILITIES = 0x1ffffffffffn;
const DAC_OVERRIDE = 1n << 1n;
const SYS_ADMIN = 1n << 21n;

/** The id of the node's namespace: the kernel makes that one itself, and its id is fixed. */
const NODE_ID = 3n;

/** Whether a path is on nsfs or in `/proc`. */
export function isOfKernel(path: string): boolean {
  return /^\/(proc|run)(\/|$)/.test(path);
}

/** Where the first thread of a process is: in the process's namespace, in the node's, or nowhere, if the thread has ended. */
type FirstThread = "there" | "of the node" | "ended";

/** A process in a network namespace that is not the node's. */
interface RunningProcess {
  readonly namespace: bigint;
  /** Where its first thread is; another thread is in the namespace. */
  readonly first: FirstThread;
  /** Whether it is in a user namespace of its own. */
  readonly isOfUser?: boolean;
}

/** A map that calls a function after each change. */
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
 * Network namespaces: each lives while it is mounted, has a process or is open. A new one gets the lowest free number, which a
 * namespace that has ended gives back at once, and an id that no other had since the boot.
 */
export class MemoryKernel {
  /** The numbers of the mounted namespaces, by their paths. */
  readonly mounts: Map<string, bigint>;
  readonly processes: Map<number, RunningProcess>;
  /** The namespaces that a process has open, by the paths at which they were; neither `/proc` nor the mounts show them. */
  readonly #opened: Map<string, bigint>;
  /** The IPv4 addresses in a namespace, by its number. */
  readonly addresses: Map<bigint, readonly string[]>;
  /** Whether `/proc` shows the processes of the node, and not only those of a container. */
  seesProcesses = true;
  /** Whether the mounts of the node are seen, and not only those of a container. */
  seesMounts = true;
  /** Whether the kernel gives handles of namespaces, as Linux does since 6.18. */
  hasHandles = false;
  /** Whether a process is in the first user namespace, and whether it has CAP_SYS_ADMIN there. */
  isInFirstUserNamespace = true;
  isAdministrator = true;
  /** Whether a process has CAP_DAC_OVERRIDE, and whether it may look at the first process of the node. */
  overridesPermissions = true;
  seesFirstProcess = true;
  /** Whether a process has mounts of its own, as a systemd unit has, in place of the node's. */
  hasOwnMounts = false;
  /** Whether the kernel tells a process with CAP_NET_ADMIN the addresses of other namespaces, as Linux does since 4.20. */
  tellsLinked = true;
  /** Whether main plugins make interfaces with another end in the node's namespace, as bridge and ptp do; macvlan does not. */
  hasOtherEnds = true;
  /** Whether addresses are configured in a virtual machine behind a tap, and so in no namespace. */
  hasTaps = false;
  /** The ids that the namespace of the node has for others, by their numbers. */
  readonly #links: Map<bigint, number>;
  /** The ids of the living namespaces, by their numbers. */
  #ids: Map<bigint, bigint>;
  #lastId: bigint;

  /** @param from the kernel of which it is a copy; by default it is a new one */
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

  /** Boots: only the node's namespace is left, and ids begin again. */
  boot(): void {
    for (const map of [this.mounts, this.processes, this.#opened]) map.clear();
    this.#lastId = NODE_ID;
  }

  /** A new namespace, mounted at a path. */
  mount(path: string): void {
    this.mounts.set(path, this.#lowestFree());
  }

  /** Mounts the namespace at a path at another path, too. */
  bind(path: string, at: string): void {
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined) this.mounts.set(at, namespace);
  }

  unmount(path: string): void {
    this.mounts.delete(path);
  }

  /** Opens the namespace at a path, like a daemon of the node that goes on running. */
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

  /** Starts a process in the namespace of another process. */
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

  /** Configures addresses at an interface; its other end is in the node's namespace, unless `hasOtherEnds` is false. */
  configure(path: string, ...addresses: readonly string[]): void {
    this.configureUnlinked(path, ...addresses);
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined && this.hasOtherEnds) this.#link(namespace);
  }

  /** Configures addresses at an interface without another end, like macvlan's, in place of the present ones. */
  configureUnlinked(path: string, ...addresses: readonly string[]): void {
    const namespace = this.#namespaceAt(path);
    if (namespace !== undefined && !this.hasTaps) this.addresses.set(namespace, addresses);
  }

  /** Moves the addresses of a namespace to another one. */
  moveAddresses(path: string, to: string): void {
    const from = this.#namespaceAt(path);
    if (from === undefined) return;
    const moved = this.addresses.get(from) ?? [];
    this.addresses.delete(from);
    this.configure(to, ...moved);
  }

  /** The addresses in the namespaces that the kernel shows. */
  get seenInUse(): readonly string[] {
    if (!this.tellsLinked) return [];
    return [...this.#links.keys()].flatMap((namespace) => this.addresses.get(namespace) ?? []);
  }

  /** The paths of the namespaces with an address, by address. */
  get pathsByAddress(): ReadonlyMap<string, readonly string[]> {
    const paths = new Map<string, string[]>();
    for (const [path, namespace] of this.mounts) {
      for (const address of this.addresses.get(namespace) ?? []) {
        paths.set(address, [...(paths.get(address) ?? []), path]);
      }
    }
    return paths;
  }

  /** Answers like `System.linkedAddresses`. */
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

  /** Answers like `OperatorSystem.namespaceId`. */
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

  /** The handle that `name_to_handle_at(2)` gives for a path. */
  handleAt(path: string): NamespaceHandle | undefined {
    const { kind, inode } = this.status(path);
    const id = kind === "file" && this.hasHandles ? this.#ids.get(inode) : undefined;
    return id === undefined ? undefined : { id: `${id}`, inode };
  }

  /** Whether `open_by_handle_at(2)` finds a namespace, by the rule of Linux 6.19, which is the strictest. */
  lives({ id, inode }: NamespaceHandle): boolean {
    // A kernel without handles does not know the root of nsfs.
    if (!this.hasHandles) throw new SystemError("open_by_handle_at", "nsfs", "EBADF");
    const seesAll = this.isInFirstUserNamespace && this.isAdministrator && this.seesProcesses;
    return seesAll && this.#ids.get(inode) === BigInt(id);
  }

  /** The kernel's status of a path on nsfs or in `/proc`. */
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

  /** What `/proc` shows to a process in the node's network namespace. */
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
      // A main plugin makes an interface in each namespace; a tap may have no address.
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

  /** The numbers of the living namespaces. */
  #used(): ReadonlySet<bigint> {
    const ofProcesses = [...this.processes.values()].map(({ namespace }) => namespace);
    const mounted = this.mounts.values();
    return new Set([NODE_NAMESPACE, ...mounted, ...ofProcesses, ...this.#opened.values()]);
  }

  /** Gives a new namespace its id, and forgets the contents of the namespaces that have ended. */
  #settle(): void {
    const used = this.#used();
    for (const known of [this.#ids, this.addresses, this.#links]) {
      for (const number of known.keys()) if (!used.has(number)) known.delete(number);
    }
    for (const number of used) if (!this.#ids.has(number)) this.#ids.set(number, ++this.#lastId);
  }
}
