/** Who called the plugin, as far as the kernel shows it: libcni does not tell. */

import { attempt, type System } from "../system/system.ts";

/** The longest `/proc/<pid>/stat` is shorter, in bytes. */
const LARGEST_STAT = 4096;

/**
 * The names of the two processes above this one, such as `containerd/bridge`: main plugins start IPAM plugins, and runtimes
 * start main plugins.
 *
 * @returns empty where `/proc` does not show them
 */
export function callerText(system: System): string {
  const own = processOf(system, system.processId());
  const parent = own && processOf(system, own.parent);
  const grandparent = parent && processOf(system, parent.parent);
  return [grandparent, parent].flatMap((one) => one?.name ?? []).join("/");
}

/** The name and the parent's id of a process, see proc_pid_stat(5); the name may have spaces and parentheses. */
function processOf(
  system: System,
  id: number,
): { readonly name: string; readonly parent: number } | undefined {
  return attempt(() => {
    const text = system.readFile(`/proc/${id}/stat`, LARGEST_STAT);
    const [, name = "", parent] = /^[0-9]+ \((.*)\) \S ([0-9]+) /s.exec(text) ?? [];
    return parent === undefined ? undefined : { name, parent: Number(parent) };
  }, undefined);
}
