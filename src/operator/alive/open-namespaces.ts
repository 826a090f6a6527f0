/** Who has a network namespace open: it lives as long as a descriptor has it, which neither a mount nor a process in it shows. */

import { namespaceName } from "../../store/namespaces/view.ts";
import { attempt, type System } from "../../system/system.ts";

/** `/proc/PID/comm` is smaller, in bytes. */
const LARGEST_NAME = 4096;

/** The namespaces that processes have open, as far as these may be inspected; read once, when they are first asked for. */
export class OpenNamespaces {
  readonly #system: System;
  #processes: ReadonlyMap<string, number> | undefined;

  constructor(system: System) {
    this.#system = system;
  }

  /** A process that has a namespace open, given as the kernel names it, in words; `undefined` where none is seen. */
  holderOf(id: string): string | undefined {
    this.#processes ??= processesOf(this.#system);
    const processId = this.#processes.get(id);
    if (processId === undefined) return undefined;
    const read = (): string => this.#system.readFile(`/proc/${processId}/comm`, LARGEST_NAME);
    return `${attempt(read, "").trim()} (process ${processId})`.trim();
  }
}

/** A process for each namespace that is open, by the namespace as the kernel names it. */
function processesOf(system: System): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const device = attempt(() => system.status("/proc/self/ns/net").device, undefined);
  const listed = (path: string): readonly string[] => attempt(() => system.list(path), []);
  for (const processId of listed("/proc").map(Number)) {
    if (!(processId > 0)) continue;
    for (const descriptor of listed(`/proc/${processId}/fd`)) {
      const path = `/proc/${processId}/fd/${descriptor}`;
      const id = attempt(() => namespaceAt(system, path, device), undefined);
      if (id !== undefined && !found.has(id)) found.set(id, processId);
    }
  }
  return found;
}

/**
 * The network namespace that a descriptor is of, as the kernel names it.
 *
 * @param device of all namespaces
 * @throws SystemError
 */
function namespaceAt(system: System, path: string, device: bigint | undefined): string | undefined {
  const target = system.readLink(path);
  if (target.startsWith("net:[")) return target;
  // So is one named that was opened where it was mounted, and is unmounted. Any other file is left alone: it may block.
  if (target !== "/") return undefined;
  const status = system.status(path);
  return status.device === device ? namespaceName(status.inode) : undefined;
}
