/** Whether the kernel tells this process of every namespace that lives. */

import { attempt, type System } from "../../system/system.ts";

/** The kernel's own name of the first user namespace. */
export const FIRST_USER_NAMESPACE = "user:[4026531837]";

/** The kernel's own name of the process ids of the host. */
const HOST_PROCESSES = "pid:[4026531836]";

/** `CAP_SYS_ADMIN`, see capabilities(7). */
const SYS_ADMIN = 1n << 21n;

/** `/proc/self/status` is smaller, in bytes. */
const LARGEST_STATUS = 64 * 1024;

/**
 * Whether this process sees all namespaces, so that the namespace of a handle that cannot be opened is gone. Any other process
 * gets the same answer (ESTALE) for one that it may not see: since Linux 6.19 outside of the first PID namespace, before that
 * without CAP_SYS_ADMIN in the first user namespace. It is false where that cannot be read.
 */
export function seesAllNamespaces(system: System): boolean {
  return attempt(() => {
    const user = system.readLink("/proc/self/ns/user");
    return (
      hasCapability(system, SYS_ADMIN) && user === FIRST_USER_NAMESPACE && seesHostProcesses(system)
    );
  }, false);
}

/** Whether this process has a capability in effect, see capabilities(7); not where that cannot be read. */
export function hasCapability(system: System, capability: bigint): boolean {
  const status = attempt(() => system.readFile("/proc/self/status", LARGEST_STATUS), "");
  const [, effective = "0"] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return (BigInt(`0x${effective}`) & capability) !== 0n;
}

/** Whether `/proc` shows the processes of the host, not only those of a container. */
export function seesHostProcesses(system: System): boolean {
  return attempt(() => system.readLink("/proc/self/ns/pid"), undefined) === HOST_PROCESSES;
}
