/** The options that several commands have. */

import type { Command, Option } from "./command.ts";

/** The options of every command. */
export const generalOptions: readonly Option[] = [
  { name: "--json", summary: "print JSON" },
  { name: "--help", short: "-h", summary: "print help for the command" },
];

/** The options of every command that finds networks. */
export const networkOptions: readonly Option[] = [
  {
    name: "--conf-dir",
    value: "DIR",
    summary: "directory of network configurations",
  },
  {
    name: "--data-dir",
    value: "DIR",
    summary: "data directory, instead of the configured ipam.dataDir",
  },
];

/** What the commands that find networks do without these options. */
export const NETWORK_DEFAULTS =
  "Configurations are by default those of $NETCONFPATH, or of /etc/cni/net.d, k3s, OpenShift and MicroK8s.";

/** All options of a command. */
export function optionsOf({ options, findsNetworks = false }: Command): readonly Option[] {
  return [...options, ...(findsNetworks ? networkOptions : []), ...generalOptions];
}
