/** Which runtime inside a container has started a process: its nearest ancestor in another namespace that is not the node's. */

import { test } from "tap";
import { nestedRuntimeOf } from "../../../src/operator/alive/nested-runtime.ts";
import { type System, SystemError } from "../../../src/system/system.ts";

/** A process: its parent, its network namespace, and its name. */
type Process = readonly [parent: number, namespace: number, name?: string];

function systemWith(processes: Readonly<Record<number, Process>>, isContained = false): System {
  const missing = (path: string): never => {
    throw new SystemError("open", path, "ENOENT");
  };
  const at = (path: string): { id: number; process: Process } => {
    const id = Number(path.split("/")[2]);
    return { id, process: processes[id] ?? missing(path) };
  };
  const system: Pick<System, "readLink" | "readFile"> = {
    readLink: (path) =>
      path === "/proc/self/ns/pid"
        ? `pid:[${isContained ? 4026539999 : 4026531836}]`
        : `net:[${at(path).process[1]}]`,
    readFile: (path) => {
      const { id, process } = at(path);
      return `${id} (${process[2] ?? "sh"}) S ${process[0]} 1 1 0 -1 4194560\n`;
    },
  };
  return system as System;
}

const node: Process = [0, 1, "systemd"];

const cases: Readonly<Record<string, readonly [Readonly<Record<number, Process>>, string?]>> = {
  "of the node's own runtime": [{ 1: node, 20: [1, 1, "conmon"], 30: [20, 50] }],
  "of a child of a container's process": [
    { 1: node, 20: [1, 1, "conmon"], 30: [20, 50], 31: [30, 50], 32: [31, 50] },
  ],
  "of a runtime in a container": [
    { 1: node, 20: [1, 1], 30: [20, 50, "kind (1) x"], 31: [30, 50, "conmon (a) b"], 32: [31, 60] },
    "conmon (a) b (process 31)",
  ],
  "of a shell in a container of a runtime in a container": [
    { 1: node, 20: [1, 1], 30: [20, 50, "containerd-shim"], 31: [30, 60], 32: [31, 60] },
    "containerd-shim (process 30)",
  ],
  "whose parent has ended": [{ 1: node, 32: [31, 60] }],
  "that has ended": [{ 1: node }],
  "whose parent is itself, by a fault": [{ 1: node, 32: [32, 60] }],
};

for (const [what, [processes, runtime]] of Object.entries(cases)) {
  for (const isContained of [false, true]) {
    test(`a process ${what}${isContained ? ", seen from inside a container" : ""}`, async (t) => {
      const [processId = 1] = [32, 30].filter((id) => id in processes);
      t.equal(nestedRuntimeOf(systemWith(processes, isContained), processId), runtime);
    });
  }
}
