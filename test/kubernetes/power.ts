/** The power of the node fails and comes back. */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { removeMounts } from "../e2e/machine.ts";
import { until } from "../harness/until.ts";
import type { Cluster } from "./cluster.ts";
import { endProcesses } from "./processes.ts";

/** The directories that a node has in memory: the namespaces of pods, and the state of containerd and its shims. */
const memory = ["/run/netns", "/run/containerd"];

const bootIdFile = "/proc/sys/kernel/random/boot_id";

/**
 * Ends everything on the node at once, and removes what it has in memory. Its disk stays as it is, and so does the control
 * plane, which stands for another machine.
 *
 * @param cluster the cluster of the node
 */
export async function failPower({ controlPlane, host }: Cluster): Promise<void> {
  await endProcesses(controlPlane.units.map(({ processId }) => processId));
  removeMounts(memory);
  // The kernel removes the interfaces of a namespace some time after its end.
  await until(
    "the end of the pods' interfaces",
    () => !host.interfaces().some((name) => name.startsWith("veth")),
  );
}

/**
 * Gives the node a boot id and the time of a boot: the kernel's own do not change with {@link failPower}.
 *
 * @param id a UUID
 */
export function setBootId(id: string): void {
  const file = "/run/boot-id";
  writeFileSync(file, `${id}\n`);
  execFileSync("mount", ["--bind", file, bootIdFile]);
  const booted = Math.floor(Date.now() / 1000) + 1;
  const statistics = readFileSync("/proc/stat", "utf8").replace(/^btime .*$/m, `btime ${booted}`);
  writeFileSync("/run/stat", statistics);
  execFileSync("mount", ["--bind", "/run/stat", "/proc/stat"]);
}
