/** Which addresses are in use, as the kernel knows: those in the network namespaces of the node, each looked at once. */

import { attempt, LARGEST_FILE, recover, type System } from "../../system/system.ts";
import { addressesBy, interfacesIn } from "./addresses.ts";
import { LinkedAddresses } from "./linked-addresses.ts";
import {
  isOfFirstUser,
  lookAround,
  type Mount,
  namespaceName,
  nodeNamespaceOf,
  type Task,
  tablesOf,
  type View,
} from "./view.ts";

/** A network namespace other than that of the node itself. */
export interface Namespace {
  /** The namespace as the kernel names it, such as `net:[4026532345]`; `undefined` if this user may not inspect its processes. */
  readonly id: string | undefined;
  /** A process of it; `undefined` if none runs there: it is only mounted. */
  readonly processId: number | undefined;
  /** Where it is mounted, or that of its process. */
  readonly path: string;
  /** The path by which this process reaches it. */
  readonly reachedAt: string;
  /** The addresses in it of both families, in their canonical form; loopback and link-local ones among them. */
  readonly addresses: ReadonlySet<string>;
  /** Whether it has another interface than `lo`, or may have. */
  readonly hasInterface: () => boolean;
  /** Whether more than what users have made in user namespaces of their own shows it, as any of them may. */
  readonly isOfNode: () => boolean;
}

/** What is seen of a namespace that neither a process nor a mount shows. */
const LINKED = "a network namespace that is linked with the node's";

/** Where the kernel tells of the network namespace of the process that reads. */
const OWN_TABLES = "/proc/self/net";

/**
 * The addresses in all namespaces that are seen from here, read once: in those of processes, in those that are only mounted,
 * which are entered, and in those linked with this process's, of which the kernel tells whoever holds them.
 */
export class AddressesInUse {
  readonly all: readonly Namespace[];
  /** Why there may be more; `undefined` where all are seen. */
  readonly incomplete: string | undefined;
  /** The addresses of the node itself, as far as its processes are seen. */
  readonly nodeAddresses: ReadonlySet<string>;
  readonly #byAddress = new Map<string, readonly Namespace[]>();
  readonly #byId: ReadonlyMap<string, Namespace>;
  readonly #linked: LinkedAddresses;

  constructor(
    system: System,
    view: View = lookAround(system),
    linked = new LinkedAddresses(system),
  ) {
    this.#linked = linked;
    const reader = new AddressReader(system);
    this.nodeAddresses = reader.addressesOf(view.ofNode)?.addresses ?? new Set();
    const ofProcesses = groupsOf(system, view, reader).flatMap(
      (tasks) => reader.addressesOf(tasks) ?? [],
    );
    const read = new Set(ofProcesses.map(({ id }) => id));
    const mounted = enterAll(system, view, read);
    this.all = [...ofProcesses, ...mounted.namespaces];
    this.incomplete =
      reader.incomplete ??
      view.incomplete ??
      mounted.incomplete ??
      whyUnread(system, view, this.all);
    this.#byId = new Map(
      this.all.flatMap((namespace) =>
        namespace.id === undefined ? [] : [[namespace.id, namespace]],
      ),
    );
    for (const namespace of this.all) {
      for (const address of namespace.addresses) {
        this.#byAddress.set(address, [...(this.#byAddress.get(address) ?? []), namespace]);
      }
    }
  }

  /** The namespaces in which an address is configured, given in its canonical form; those of processes first. */
  withAddress(address: string): readonly Namespace[] {
    return this.#byAddress.get(address) ?? [];
  }

  /** Whether a namespace other than this process's, and linked with that, has an address, given in its canonical form. */
  isLinked(address: string): boolean {
    const namespaces = this.#linked.all().get(address);
    return namespaces !== undefined && (namespaces.size > 1 || !namespaces.has("node"));
  }

  /**
   * Who uses an address, in a clause such as `10.0.0.2 is in use by process 7`; `undefined` where nobody is seen to.
   *
   * @param address in its canonical form
   * @param counts whether a namespace is one of a user; by default each is
   */
  whyUsed(address: string, counts: (user: Namespace) => boolean = () => true): string | undefined {
    if (this.nodeAddresses.has(address)) return `${address} is in use by the node itself`;
    const user = this.withAddress(address).find(counts);
    if (user === undefined) {
      return this.isLinked(address) ? `${address} is in use in ${LINKED}` : undefined;
    }
    return user.processId === undefined
      ? `${address} is in use in the network namespace ${user.path}`
      : `${address} is in use by process ${user.processId}`;
  }

  /** The namespace with an id, as the kernel names it. */
  withId(id: string): Namespace | undefined {
    return this.#byId.get(id);
  }
}

/** The processes by namespace; those that may not be inspected are told apart by the namespace's tables. */
function groupsOf(
  system: System,
  { tasks, uninspected }: View,
  reader: AddressReader,
): readonly (readonly Task[])[] {
  const byTables = Map.groupBy(uninspected, ({ processId, task }) =>
    recover(
      () => tablesOf(system, task),
      () => {
        reader.incomplete ??= `process ${processId} may not be inspected`;
        return undefined;
      },
    ),
  );
  byTables.delete(undefined);
  return [...tasks.values(), ...byTables.values()];
}

/** Reads the addresses of namespaces by the processes there. */
class AddressReader {
  readonly #system: System;
  /** Why some namespace may have more addresses; `undefined` where all were read. */
  incomplete: string | undefined;

  constructor(system: System) {
    this.#system = system;
  }

  /** The namespace of processes; `undefined` where all have ended, or its addresses cannot be read. */
  addressesOf(tasks: readonly Task[]): Namespace | undefined {
    const system = this.#system;
    for (const { task, processId, id } of tasks) {
      const read = (table: string): string =>
        system.readFile(`/proc/${task}/net/${table}`, LARGEST_FILE);
      const addresses = recover(
        () => addressesBy(read),
        ({ message }) => {
          this.incomplete ??= message;
          return null;
        },
      );
      // Another process of this namespace would give the same answer.
      if (addresses === null) return undefined;
      if (addresses === undefined) continue;
      return {
        id,
        processId: Number(processId),
        path: `/proc/${task}/ns/net`,
        reachedAt: `/proc/${task}/ns/net`,
        addresses,
        hasInterface: () => hasInterface(() => read("dev")),
        isOfNode: () =>
          tasks.some((member) => attempt(() => isOfFirstUser(system, member.task), true)),
      };
    }
    return undefined;
  }
}

/**
 * Why a namespace may be missing if all its processes ended while it was to be read: one of them may have started another
 * process there.
 */
function whyUnread(system: System, { tasks }: View, all: readonly Namespace[]): string | undefined {
  const known = new Set(all.map(({ id }) => id));
  const missing = [...tasks.keys()].filter((id) => !known.has(id));
  if (missing.length === 0) return undefined;
  const now = lookAround(system);
  const again = missing.find((id) => now.tasks.has(id));
  return again && `the network namespace ${again} has other processes by now`;
}

/**
 * Enters the namespaces that are mounted, and of which no process has shown the addresses.
 *
 * @param read those of which one has
 */
function enterAll(
  system: System,
  { mounts }: View,
  read: ReadonlySet<string | undefined>,
): { readonly namespaces: readonly Namespace[]; readonly incomplete: string | undefined } {
  const node = nodeNamespaceOf(system);
  const others = mounts.filter(({ id }) => id !== node && !read.has(id));
  const namespaces: Namespace[] = [];
  const failed = new Map<string, string>();
  for (const [id, itsMounts] of Map.groupBy(others, (mount) => mount.id)) {
    const reasons: string[] = [];
    // One of several paths is enough; those of this process and of the first one come first.
    const found = itsMounts.reduce<Namespace | undefined>(
      (known, mount) => known ?? enter(system, mount, reasons),
      undefined,
    );
    if (found !== undefined) namespaces.push(found);
    else failed.set(id, reasons[0] ?? "");
  }
  // Namespaces that were unmounted meanwhile are gone.
  const now = failed.size === 0 ? [] : lookAround(system).mounts;
  return { namespaces, incomplete: now.map(({ id }) => failed.get(id)).find(Boolean) };
}

/** @param reasons gets the one why it could not be entered */
function enter(
  system: System,
  { id, path, reachedAt }: Mount,
  reasons: string[],
): Namespace | undefined {
  const read = (table: string): string =>
    system.readFileIn(reachedAt, `${OWN_TABLES}/${table}`, LARGEST_FILE);
  const refused = (reason: string): undefined => {
    reasons.push(`${path} ${reason}`);
  };
  const look = (): Namespace | undefined => {
    if (idAt(system, reachedAt) !== id) return refused("is covered by another mount");
    const addresses = addressesBy(read);
    if (addresses === undefined) return refused("has no table of addresses");
    const isBusy = (): boolean => hasInterface(() => read("dev"));
    // A mount in a user namespace of its own is not listed.
    const known = { hasInterface: isBusy, isOfNode: () => true };
    return { id, processId: undefined, path, reachedAt, addresses, ...known };
  };
  return recover(look, ({ code, message }) =>
    refused(
      `cannot be entered${code === "EPERM" ? ", which takes CAP_SYS_ADMIN" : `: ${message}`}`,
    ),
  );
}

/**
 * The namespace to which a path leads, as the kernel names it; `undefined` if it leads to nothing, or to anything else.
 *
 * @throws SystemError where that cannot be seen
 */
function idAt(system: System, path: string): string | undefined {
  const found = attempt(() => system.status(path), undefined, "ENOENT", "ENOTDIR");
  const { device } = system.status("/proc/self/ns/net");
  return found?.device === device ? namespaceName(found.inode) : undefined;
}

function hasInterface(read: () => string): boolean {
  const table = attempt(read, undefined);
  return table === undefined || interfacesIn(table).some((name) => name !== "lo");
}
