/** Runtimes inside containers, as of kind or podman in podman: their containers may have the addresses of this node's. */

import { namespaceOf, nodeNamespaceOf } from "../../store/namespaces/view.ts";
import { attempt, type System } from "../../system/system.ts";

/** `/proc/PID/stat` is smaller, in bytes. */
const LARGEST_STAT = 4096;

/** A process has fewer ancestors. */
const MOST_ANCESTORS = 100;

/**
 * Finds the runtime inside a container that has started a process: its nearest ancestor in another network namespace, if that is
 * not the node's either, such as `conmon (process 4711)`.
 *
 * @param processId of a process in the network namespace of a container
 * @returns `undefined` if the node's own runtime has started it, or that is not seen
 */
export function nestedRuntimeOf(system: System, processId: number): string | undefined {
  const own = namespaceOf(system, `${processId}`);
  const ofNode = nodeNamespaceOf(system) ?? namespaceOf(system, "1");
  if (own === undefined || ofNode === undefined) return undefined;
  let ancestor: number | undefined = processId;
  for (let steps = 0; steps < MOST_ANCESTORS; steps++) {
    ancestor = ancestor === undefined ? undefined : parentOf(system, ancestor);
    const namespace = ancestor === undefined ? undefined : namespaceOf(system, `${ancestor}`);
    if (ancestor === undefined || namespace === undefined || namespace === ofNode) return undefined;
    if (namespace !== own) return describeProcess(system, ancestor);
  }
  return undefined;
}

/** The parent of a process, see proc_pid_stat(5); `undefined` where it has none, or has ended. */
function parentOf(system: System, processId: number): number | undefined {
  const text = statOf(system, processId);
  // The name may have anything in it.
  const [, , parent = ""] = text.slice(text.lastIndexOf(")")).split(" ");
  return Number(parent) > 0 ? Number(parent) : undefined;
}

/** A process in words, such as `conmon (process 4711)`. */
export function describeProcess(system: System, processId: number): string {
  const text = statOf(system, processId);
  const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
  return `${name} (process ${processId})`;
}

function statOf(system: System, processId: number): string {
  return attempt(() => system.readFile(`/proc/${processId}/stat`, LARGEST_STAT), "");
}
