/** What a cluster needs of the machine. */

import type { Needs } from "../e2e/machine.ts";

/**
 * Programs that are fetched or built, and those of every scenario.
 *
 * @param containerd its release, as its layer names it
 */
export function needsOfCluster(containerd: "1.6" | "2" = "1.6"): Needs {
  return {
    plugins: ["ptp", "bridge", "portmap", "loopback"],
    // The version that has STATUS and GC.
    cniVersion: containerd === "2" ? "1.1.0" : "1.0.0",
    programs: ["kubernetes/cri-proxy", "kubernetes/kube-apiserver", "kubectl"],
    layers: [`containerd-${containerd}`, "runc"],
  };
}
