/** The network namespaces of running processes, with the addresses that are configured in each. */

import { addressAt, formatAddress } from "../../ipam/address.ts";
import { attempt, recover, type System } from "../../system/system.ts";

/** A network namespace in which at least one process runs; not that of the node itself. */
export interface ProcessNamespace {
  /** As the kernel names it, such as `net:[4026532345]`; `undefined` if this user may not inspect its processes. */
  readonly id: string | undefined;
  /** One of its processes. */
  readonly processId: number;
  /** Its addresses of both families, in their canonical form; loopback and link-local ones among them. */
  readonly addresses: ReadonlySet<string>;
}

/** What `/proc` shows of processes. */
export interface Processes {
  readonly namespaces: readonly ProcessNamespace[];
  /** The ids of those in the namespace of the node itself. */
  readonly ofNode: readonly string[];
  /** The addresses of the node itself, as far as its processes are seen. */
  readonly nodeAddresses: ReadonlySet<string>;
  /** Why some namespace may have more addresses; `undefined` where all were read. */
  readonly incomplete: string | undefined;
}

/** The routing table of a namespace with thousands of routes is smaller, in bytes. */
export const LARGEST_TABLE = 16 * 1024 * 1024;

/**
 * Reads `/proc`: every namespace once, or twice if this user may inspect some of its processes only. Processes that end
 * meanwhile are left out.
 *
 * @returns none where `/proc` cannot be read
 */
export function readProcesses(system: System): Processes {
  const nodeTables = attempt(() => tablesOf(system, "1"), undefined);
  const node = seesHostProcesses(system) ? [nodeNamespaceOf(system), nodeTables] : [];
  const namespaces = new Map<string, ProcessNamespace>();
  const ofNode: string[] = [];
  const unread = new Set<string>();
  let nodeAddresses: ReadonlySet<string> | undefined;
  let incomplete: string | undefined;
  for (const { processId, task, namespace: id } of tasksOn(system)) {
    const tables = (): string | undefined => tablesOf(system, task);
    const key =
      id ??
      recover(tables, () => {
        incomplete ??= uninspected(processId);
        return undefined;
      });
    if (key === undefined || namespaces.has(key)) continue;
    const isOfNode = node.includes(key);
    if (isOfNode) ofNode.push(processId);
    if (unread.has(key) || (isOfNode && nodeAddresses !== undefined)) continue;
    const read = (): ReadonlySet<string> | undefined =>
      addressesBy((table) => system.readFile(`/proc/${task}/net/${table}`, LARGEST_TABLE));
    const addresses = recover(read, ({ message }) => {
      // It would be the same with another process of this namespace.
      unread.add(key);
      incomplete ??= message;
      return undefined;
    });
    if (addresses === undefined) continue;
    if (isOfNode) nodeAddresses = addresses;
    else namespaces.set(key, { id, processId: Number(processId), addresses });
  }
  return {
    namespaces: [...namespaces.values()],
    ofNode,
    nodeAddresses: nodeAddresses ?? new Set(),
    incomplete,
  };
}

/**
 * What identifies the tables of a process's namespace in `/proc`, which every user may read; their namespace may be seen
 * only with CAP_SYS_PTRACE. `undefined` where the process has ended.
 *
 * @throws SystemError where they cannot be seen
 */
function tablesOf(system: System, process: string): string | undefined {
  const look = (): string => `tables ${system.status(`/proc/${process}/net/dev`).inode}`;
  return attempt(look, undefined, ...ENDED);
}

/** A process; where its first thread has ended, as that of a zombie has, another one of its threads. */
interface Task {
  readonly processId: string;
  /** Where it is below `/proc`, such as `7` or `7/task/9`. */
  readonly task: string;
  /** As the kernel names it, such as `net:[4026532345]`; `undefined` if this user may not inspect it. */
  readonly namespace: string | undefined;
}

/** The network namespaces of all processes that run. */
export interface ProcessNamespaces {
  /** One of the processes in each, by the namespace as the kernel names it. */
  readonly processes: ReadonlyMap<string, string>;
  /** Processes in the namespace of the node itself. */
  readonly ofNode: readonly string[];
  /** Why there may be more; `undefined` where all are seen. */
  readonly incomplete: string | undefined;
}

/** Reads in which namespaces processes run; as `readProcesses`, without the addresses there. */
export function readProcessNamespaces(system: System): ProcessNamespaces {
  const node = nodeNamespaceOf(system);
  if (node === undefined) return { processes: new Map(), ofNode: [], incomplete: UNSEEN_PROCESSES };
  const processes = new Map<string, string>();
  const ofNode: string[] = [];
  let incomplete: string | undefined;
  for (const { processId, task, namespace } of tasksOn(system)) {
    // One that may not be inspected, as the first may be protected, is known by its tables if it is of the node.
    const isOfNode = namespace === undefined ? isLikeFirst(system, task) : namespace === node;
    if (isOfNode) ofNode.push(processId);
    else if (namespace === undefined) incomplete ??= uninspected(processId);
    if (namespace !== undefined) processes.set(namespace, processId);
  }
  return { processes, ofNode, incomplete };
}

/** Why a process may be in any namespace. */
function uninspected(processId: string): string {
  return `process ${processId} may not be inspected`;
}

/** Why nothing is known of processes. */
const UNSEEN_PROCESSES = "the processes of the node are not seen from here";

/** One task of each process that has not ended. */
function* tasksOn(system: System): Generator<Task, void> {
  for (const processId of processIds(system)) {
    const task = taskOf(system, processId);
    if (task !== undefined) yield task;
  }
}

/** One task of a process; `undefined` where it has ended. */
function taskOf(system: System, processId: string): Task | undefined {
  const first = taskAt(system, processId, processId);
  if (first !== undefined) return first;
  const list = (): readonly string[] => system.list(`/proc/${processId}/task`);
  const threads = recover(list, ({ code }) => (ENDED.includes(code) ? [] : undefined));
  // It may have some.
  if (threads === undefined) return { processId, task: processId, namespace: undefined };
  for (const id of threads) {
    const thread = taskAt(system, processId, `${processId}/task/${id}`);
    if (thread !== undefined) return thread;
  }
  return undefined;
}

/** A task; `undefined` where it has ended. */
function taskAt(system: System, processId: string, task: string): Task | undefined {
  const read = (): string => system.readLink(`/proc/${task}/ns/net`);
  const namespace = recover(read, ({ code }) => (ENDED.includes(code) ? null : undefined));
  return namespace === null ? undefined : { processId, task, namespace };
}

/** Errors of a process that has ended. */
export const ENDED: readonly string[] = ["ENOENT", "ESRCH"];

/** The namespace of a process; `undefined` where it cannot be seen. */
function namespaceOf(system: System, process: string): string | undefined {
  return attempt(() => system.readLink(`/proc/${process}/ns/net`), undefined);
}

/** The kernel's own number for the process ids of the host. */
const HOST_PROCESSES = "pid:[4026531836]";

/** Whether `/proc` shows the processes of the host, not only those of a container. */
export function seesHostProcesses(system: System): boolean {
  return attempt(() => system.readLink("/proc/self/ns/pid"), undefined) === HOST_PROCESSES;
}

/**
 * The namespace of the node itself, which is that of its first process. This process may run in a pod.
 *
 * @returns `undefined` where the processes of the host cannot be seen, or not inspected
 */
export function nodeNamespaceOf(system: System): string | undefined {
  if (!seesHostProcesses(system)) return undefined;
  const own = namespaceOf(system, "1");
  if (own !== undefined) return own;
  // It may be protected; the second is the kernel's, and in the namespace that the first began in.
  const like = ["self", "2"].find((process) => isLikeFirst(system, process));
  return like && namespaceOf(system, like);
}

/** Whether a task is known to be in the namespace of the node's first process. */
function isLikeFirst(system: System, task: string): boolean {
  return attempt(() => {
    const tables = tablesOf(system, "1");
    return tables !== undefined && tables === tablesOf(system, task);
  }, false);
}

function processIds(system: System): readonly string[] {
  return attempt(() => system.list("/proc"), []).filter((name) => Number(name) > 0);
}

/**
 * The addresses in a namespace, in their canonical form.
 *
 * @param read a table of it, by its name in `/proc/PID/net`
 * @returns `undefined` where its process has ended
 * @throws SystemError where they cannot be read
 */
export function addressesBy(read: (table: string) => string): ReadonlySet<string> | undefined {
  const table = (name: string): string | undefined =>
    attempt(() => read(name), undefined, "ENOENT", "ESRCH", "EINVAL");
  // A kernel without IPv6 has no such table: then the other one shows that the process has not ended.
  const ipv6 = table("if_inet6");
  const ipv4 = table("fib_trie");
  if (ipv4 === undefined) return undefined;
  return new Set([...localAddresses(ipv4), ...interfaceAddresses(ipv6 ?? "")]);
}

/**
 * The own addresses of a namespace in `fib_trie`: a line with an address, then one with `/32 host LOCAL`.
 *
 * @example localAddresses("|-- 10.88.0.7\n   /32 host LOCAL\n"); // ["10.88.0.7"]
 */
export function localAddresses(table: string): readonly string[] {
  return [...table.matchAll(/\|-- ([0-9.]+)\n +\/32 host LOCAL/g)].map(
    ([, address = ""]) => address,
  );
}

/**
 * The addresses in `if_inet6`: 32 hexadecimal digits at the beginning of each line.
 *
 * @example interfaceAddresses("fd000000000000000000000000000007 02 40 00 80 eth0\n"); // ["fd00::7"]
 */
export function interfaceAddresses(table: string): readonly string[] {
  return [...table.matchAll(/^([0-9a-f]{32}) /gm)].map(([, digits = ""]) =>
    formatAddress(addressAt(6, BigInt(`0x${digits}`))),
  );
}
