/** Who has a network namespace open: it lives as long as a descriptor has it, which neither a mount nor a process in it shows. */

import { attempt, type System } from "../../system/system.ts";
import { describeProcess } from "./nested-runtime.ts";

/** The namespaces that processes have open, as far as these may be inspected; read once, when they are first asked for. */
export class OpenNamespaces {
  readonly #system: System;
  #processes: ReadonlyMap<string, number> | undefined;

  constructor(system: System) {
    this.#system = system;
  }

  /** A process that has a namespace open, given as the kernel names it, in words; `undefined` where none is seen. */
  holderOf(id: string): string | undefined {
    this.#processes ??= processesIn(this.#system);
    const processId = this.#processes.get(id);
    return processId === undefined ? undefined : describeProcess(this.#system, processId);
  }
}

/** A process for each namespace that is open, by the namespace as the kernel names it. */
function processesIn(system: System): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const listed = (path: string): readonly string[] => attempt(() => system.list(path), []);
  for (const processId of listed("/proc").map(Number)) {
    if (!(processId > 0)) continue;
    for (const descriptor of listed(`/proc/${processId}/fd`)) {
      const target = attempt(() => system.readLink(`/proc/${processId}/fd/${descriptor}`), "");
      if (target.startsWith("net:[") && !found.has(target)) found.set(target, processId);
    }
  }
  return found;
}
