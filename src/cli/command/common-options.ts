/** The options that several commands have. */

import type { Command, Option } from "./command.ts";

/** The options of every command. */
export const generalOptions: readonly Option[] = [
  { name: "--json", summary: "print JSON" },
  { name: "--help", short: "-h", summary: "print help for the command" },
];

/** The directory of libcni's cache, unless the runtime sets another. */
export const DEFAULT_CACHE_DIR = "/var/lib/cni";

/** The option that names the directory of the cache, and of that of multus. */
export const cacheOption: Option = {
  name: "--cache-dir",
  value: "DIR",
  summary: `directory of libcni's cache (default: ${DEFAULT_CACHE_DIR})`,
};

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
  cacheOption,
];

/** What the commands that find networks do without these options. */
export const NETWORK_DEFAULTS =
  "Configurations are by default those of $NETCONFPATH, or of the directories that containerd and CRI-O are configured to read, and of /etc/cni/net.d, k3s, OpenShift and MicroK8s, with those that libcni 1.3 and nerdctl 2 have in directories there, and, of networks without a file, those that multus, BuildKit, Nomad and Concourse leave in libcni's cache.";

/** All options of a command. */
export function optionsOf({ options, findsNetworks = false }: Command): readonly Option[] {
  return [...options, ...(findsNetworks ? networkOptions : []), ...generalOptions];
}
