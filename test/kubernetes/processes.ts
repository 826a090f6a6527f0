/** The processes of a cluster. They run among those of the machine; a cgroup tells them apart. */

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { makeCgroup, processesIn, removeCgroup } from "../e2e/machine.ts";
import { cgroupOfScenario } from "../e2e/scenario.ts";
import { until } from "../harness/until.ts";

/** The cgroup for the processes that this process starts; kubelet has its own for pods beside it. */
const programs = `${cgroupOfScenario}/programs`;

/** The cgroup that kubelet makes for pods below the cgroup that it is given. */
const pods = `${cgroupOfScenario}/kubepods`;

/**
 * Kills the processes of a directory of cgroups and below it, as soon as the process $1 has ended, by itself or by a signal.
 */
const endWithProcess = `
while [ -e "/proc/$1" ]; do sleep 0.2; done
while ids=$(find "$2" -name cgroup.procs -exec cat {} + 2>/dev/null) && [ -n "$ids" ]; do
  kill -KILL $ids 2>/dev/null
  sleep 0.2
done`;

/**
 * Makes all processes that this process starts from now on end with it, and known as the cluster's. For them, the node's
 * network namespace, the one of the first process, is the namespace of this process.
 */
export function ownProcesses(): void {
  execFileSync("mount", ["--bind", `/proc/${process.pid}`, "/proc/1"]);
  for (const name of [cgroupOfScenario, programs]) makeCgroup(name);
  const hierarchy = unifiedHierarchy();
  const words = ["-c", endWithProcess, "sh", `${process.pid}`, `${hierarchy}/${cgroupOfScenario}`];
  // The killing process must not be in the cgroup itself.
  spawn("sh", words, { detached: true, stdio: "ignore" }).unref();
  writeFileSync(`${hierarchy}/${programs}/cgroup.procs`, `${process.pid}`);
}

/**
 * Ends the cluster's processes, and removes the cgroups of pods.
 *
 * @param spared the ids of those that stay, besides this one
 */
export async function endProcesses(spared: readonly number[]): Promise<void> {
  const staying = new Set([process.pid, ...spared]);
  await until("the end of all processes", () => {
    const left = processesIn(cgroupOfScenario).filter((id) => !staying.has(id));
    for (const id of left) process.kill(id, "SIGKILL");
    return left.length === 0;
  });
  removeCgroup(pods);
}

/** The mount point of cgroups of version 2, or of those of version 1 without a controller. */
function unifiedHierarchy(): string {
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  const found =
    mounts.find(([, , type]) => type === "cgroup2") ??
    mounts.find(([, , type, options = ""]) => type === "cgroup" && options.includes("name="));
  if (found?.[1] === undefined) throw new Error("No cgroups without a controller are mounted.");
  return found[1];
}
