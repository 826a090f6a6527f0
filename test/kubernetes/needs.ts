/** The needs of a cluster. */

import type { Needs } from "../e2e/machine.ts";

/** Whether each node must be a container with a PID namespace of its own, where the kernel does not answer by handles. */
export const isContained = process.env.HOST_LOCAL_KUBERNETES_CONTAINED !== undefined;

/** Main plugins, programs that are fetched, and containerd. */
export const needsOfCluster = {
  plugins: ["ptp", "bridge", "portmap", "loopback"],
  // The version that has STATUS and GC.
  cniVersion: "1.1.0",
  programs: ["kubectl", "etcd"],
  layers: ["containerd-2", "runc"],
} as const satisfies Needs;
