/** What a cluster needs of the machine. */

import type { Needs } from "../e2e/machine.ts";
import { type ContainerdRelease, containerdOf, isGiven, speaksCriV1 } from "./programs.ts";

/**
 * Programs that are fetched or built, and those of every scenario.
 *
 * @param named the release of containerd that the scenario is about, if any
 */
export function needsOfCluster(named?: ContainerdRelease): Needs {
  const containerd = containerdOf(named);
  const built = ["kubernetes/kube-apiserver", ...(speaksCriV1 ? [] : ["kubernetes/cri-proxy"])];
  return {
    plugins: ["ptp", "bridge", "portmap", "loopback"],
    // The version that has STATUS and GC.
    cniVersion: containerd === "2" ? "1.1.0" : "1.0.0",
    programs: ["kubectl", ...(isGiven ? ["etcd"] : built)],
    layers: [`containerd-${containerd}`, "runc"],
  };
}
