/** What a cluster needs of the machine. */

import type { Needs } from "../e2e/machine.ts";

/** Programs that are fetched or built, and those of every scenario. */
export const needsOfCluster: Needs = {
  plugins: ["ptp", "bridge", "portmap", "loopback"],
  cniVersion: "1.0.0",
  programs: ["kubernetes/kube-apiserver", "kubectl"],
  layers: ["containerd-1.6", "runc"],
};
