/** The options that every command has. */

import type { Option } from "./command.ts";

export const commonOptions: readonly Option[] = [
  {
    name: "--conf-dir",
    value: "DIR",
    summary:
      "directory of network configurations (default: $NETCONFPATH, or /etc/cni/net.d and those of k3s, OpenShift and MicroK8s)",
  },
  {
    name: "--data-dir",
    value: "DIR",
    summary: "data directory; overrides ipam.dataDir of the configurations",
  },
  { name: "--json", summary: "print JSON" },
  { name: "--help", summary: "print help for the command" },
];
