/** The network namespaces of running processes, with the addresses that are configured in each. */

import { formatAddress, parseAddress } from "../../ipam/address.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";

/** A network namespace in which at least one process runs; not that of the node itself. */
export interface ProcessNamespace {
  /** As the kernel names it, such as `net:[4026532345]`; `undefined` if this user may not inspect its processes. */
  readonly id: string | undefined;
  /** One of its processes. */
  readonly processId: number;
  /** Its addresses of both families, in their canonical form; loopback and link-local ones among them. */
  readonly addresses: ReadonlySet<string>;
}

/** The routing table of a namespace with thousands of routes is smaller, in bytes. */
const LARGEST_TABLE = 16 * 1024 * 1024;

/**
 * Reads `/proc`: every namespace once, or twice if this user may inspect some of its processes only. Processes that end
 * meanwhile are left out.
 *
 * @returns none where `/proc` cannot be read
 */
export function readProcessNamespaces(system: OperatorSystem): readonly ProcessNamespace[] {
  const ofNode = seesHostProcesses(system) ? [nodeNamespaceOf(system), tablesOf(system, "1")] : [];
  const namespaces = new Map<string, ProcessNamespace>();
  for (const processId of processIds(system)) {
    const id = namespaceOf(system, processId);
    const key = id ?? tablesOf(system, processId);
    if (key === undefined || ofNode.includes(key) || namespaces.has(key)) continue;
    const addresses = addressesOf(system, processId);
    if (addresses !== undefined) {
      namespaces.set(key, { id, processId: Number(processId), addresses });
    }
  }
  return [...namespaces.values()];
}

/**
 * What identifies the tables of a process's namespace in `/proc`, which every user may read; their namespace may be seen
 * only with CAP_SYS_PTRACE. `undefined` where the process has ended.
 */
function tablesOf(system: OperatorSystem, process: string): string | undefined {
  return attempt(() => `tables ${system.status(`/proc/${process}/net/dev`).inode}`, undefined);
}

/** The namespace of a process; `undefined` where it cannot be seen. */
export function namespaceOf(system: OperatorSystem, process: string): string | undefined {
  return attempt(() => system.readLink(`/proc/${process}/ns/net`), undefined);
}

/** The kernel's own number for the process ids of the host. */
const HOST_PROCESSES = "pid:[4026531836]";

/** Whether `/proc` shows the processes of the host, not only those of a container. */
export function seesHostProcesses(system: OperatorSystem): boolean {
  return attempt(() => system.readLink("/proc/self/ns/pid"), undefined) === HOST_PROCESSES;
}

/**
 * The namespace of the node itself, which is that of its first process. This process may run in a pod.
 *
 * @returns `undefined` where the processes of the host cannot be seen, or not inspected
 */
export function nodeNamespaceOf(system: OperatorSystem): string | undefined {
  if (!seesHostProcesses(system)) return undefined;
  const isOwn = (): boolean => tablesOf(system, "1") === tablesOf(system, "self");
  return namespaceOf(system, "1") ?? (isOwn() ? namespaceOf(system, "self") : undefined);
}

function processIds(system: OperatorSystem): readonly string[] {
  return attempt(() => system.list("/proc"), []).filter((name) => /^[0-9]+$/.test(name));
}

/**
 * The addresses in the namespace of a process, in their canonical form.
 *
 * @returns `undefined` where the process has ended
 */
export function addressesOf(
  system: OperatorSystem,
  processId: string,
): ReadonlySet<string> | undefined {
  // A kernel without IPv6 has no second table.
  const ipv4 = attempt(
    () => system.readFile(`/proc/${processId}/net/fib_trie`, LARGEST_TABLE),
    undefined,
  );
  const ipv6 = attempt(
    () => system.readFile(`/proc/${processId}/net/if_inet6`, LARGEST_TABLE),
    undefined,
  );
  if (ipv4 === undefined && ipv6 === undefined) return undefined;
  return new Set([...localAddresses(ipv4 ?? ""), ...interfaceAddresses(ipv6 ?? "")]);
}

/**
 * The node's own addresses in `fib_trie`: a line with an address, then one with `/32 host LOCAL`.
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
  return [...table.matchAll(/^([0-9a-f]{32}) /gm)].flatMap(([, digits = ""]) => {
    const address = parseAddress((digits.match(/.{4}/g) ?? []).join(":"));
    return address === undefined ? [] : [formatAddress(address)];
  });
}
